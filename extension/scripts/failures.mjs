// A reporter for node's test runner: a line of JSON for each test that failed, with what it failed of.

export default async function* failures(events) {
  for await (const { type, data } of events) {
    if (type === 'test:fail')
      yield `${JSON.stringify({ test: data.name, first: told(data.details.error) })}\n`;
  }
}

/** What was thrown, as the runner wraps it. */
function told(error) {
  const thrown = error.cause ?? error;
  return String(thrown.stack ?? thrown);
}
