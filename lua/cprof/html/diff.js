export function diff() {
  return {};
}
