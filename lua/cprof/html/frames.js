export function frames() {
  return {};
}
