// Measures that a page can show instead of wall time.

export const measures = {
  cpu: {
    title: "CPU",
    hint: "Time that the program spent computing, without waiting",
    unit: "ns",
    column: "CPU",
    heading: "Where the program computes",
    of: "of the CPU time",
  },
  wait: {
    title: "Waiting",
    hint: "Time that the program spent sleeping, reading or polling",
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
    hint: "Number of blocks that were allocated or grew",
    unit: "allocations",
    column: "allocs",
    heading: "Where allocations are made",
    of: "of the allocations",
  },
  live: {
    title: "In use",
    hint: "Allocated bytes that were in use when recording ended",
    unit: "bytes",
    column: "in use",
    heading: "Where memory in use was allocated",
    of: "of the memory in use",
  },
  peak: {
    title: "At peak",
    hint: "Bytes in use when memory use was at its peak",
    unit: "bytes",
    column: "at peak",
    heading: "Where memory in use at the peak was allocated",
    of: "of the memory in use at the peak",
  },
};

// The measure of lines that goes with a measure of trees. Lines have no
// figures for the peak.
export function ofLines(measure) {
  return measure === "peak" ? "live" : measure;
}
