// What is looked at in the place of wall time.

export const measures = {
  cpu: {
    title: "CPU",
    hint: "Time in which the program computed, without waiting",
    unit: "ns",
    column: "CPU",
    heading: "Where the program computes",
    of: "of the CPU time",
  },
  wait: {
    title: "Waiting",
    hint: "Time in which the program slept, read or polled",
    unit: "ns",
    column: "waiting",
    heading: "Where the program waits",
    of: "of the waiting time",
  },
  bytes: {
    title: "Allocated",
    hint: "Bytes allocated, whether they are still in use or not",
    unit: "bytes",
    column: "alloc",
    heading: "Where bytes are allocated",
    of: "of the bytes",
  },
  allocs: {
    title: "Allocations",
    hint: "How many blocks were allocated, or grew",
    unit: "allocations",
    column: "allocs",
    heading: "Where allocations are made",
    of: "of the allocations",
  },
  live: {
    title: "In use",
    hint: "Bytes allocated that were in use when recording ended",
    unit: "bytes",
    column: "in use",
    heading: "Where what is in use was allocated",
    of: "of what is in use",
  },
  peak: {
    title: "At peak",
    hint: "Bytes that were in use when most were",
    unit: "bytes",
    column: "at peak",
    heading: "Where what was in use at the peak was allocated",
    of: "of the peak",
  },
};

// What lines are shaded by, where trees are measured so: they do not know what
// they had at the peak.
export function ofLines(measure) {
  return measure === "peak" ? "live" : measure;
}
