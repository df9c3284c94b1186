/**
 * Sends one request before the measurement, because a load on wrong responses would measure something else. `text` is the whole expected
 * body.
 */
export async function expectAnswer(url, { status = 200, text, ...init } = {}) {
  const response = await fetch(url, { signal: AbortSignal.timeout(30_000), ...init });
  const answer = await response.text();
  if (response.status !== status) throw new Error(`${init.method ?? "GET"} ${url} answered ${response.status}: ${answer.slice(0, 300)}`);
  if (text !== undefined && answer !== text) {
    throw new Error(
      `${url} answered ${answer.length} characters (${answer.slice(0, 80)}), not the ${text.length} expected (${text.slice(0, 80)})`,
    );
  }
  return response.headers;
}
