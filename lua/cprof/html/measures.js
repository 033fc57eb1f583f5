// What is looked at in the place of time: what was allocated, what of it is in
// use.

export const measures = {
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

// What lines know; they do not know what they had at the peak.
export function ofLines(measure) {
  return measure === "peak" ? "live" : measure;
}
