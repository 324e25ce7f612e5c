// Reporter for node's test runner: a line of JSON for each failed test, with its error.

export default async function* failures(events) {
  for await (const { type, data } of events) {
    if (type === 'test:fail')
      yield `${JSON.stringify({ test: data.name, first: told(data.details.error) })}\n`;
  }
}

/** Returns the error that the runner has wrapped. */
function told(error) {
  const thrown = error.cause ?? error;
  return String(thrown.stack ?? thrown);
}
