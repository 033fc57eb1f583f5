// Failures, and at the end how many passed, as of the other specs.

export default async function* reporter(source) {
  let passed = 0;
  let failed = 0;
  for await (const { type, data } of source) {
    if (type === "test:diagnostic" || data.skip !== undefined) continue;
    if (type === "test:stdout" || type === "test:stderr") yield data.message;
    if (type === "test:pass" && data.details.type !== "suite") passed++;
    if (type === "test:fail" && data.details.type !== "suite") {
      failed++;
      const { error } = data.details;
      yield `FAILED ${data.name}\n${error.cause?.stack || error.message}\n`;
    }
  }
  yield `${passed} passed, ${failed} failed\n`;
}
