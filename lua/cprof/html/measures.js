// Measures that a page can show instead of its own figures, by name: what the
// page's data say of each.

/**
 * @type {Record<string, { title: string, hint: string, unit: string,
 *   column: string, heading: string, of: string, line: string,
 *   lines: string }>}
 */
export const measures = {};

// Notes what a page's data say of measures.
export function learn(words) {
  Object.assign(measures, words);
}

// The measure of lines that goes with a measure of trees.
export function ofLines(measure) {
  return measures[measure]?.lines ?? measure;
}
