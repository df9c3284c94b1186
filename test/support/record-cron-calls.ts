import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";

/** One request of a cron job. */
export interface CronCall {
  /** Path of the job's endpoint. */
  readonly job: string;
  readonly daemon: string;
  /** Time of the request in Unix milliseconds. */
  readonly atMs: number;
}

/** Records the calls of cron jobs. */
export interface CronRecorder {
  /** All calls so far, oldest first. */
  readonly calls: readonly CronCall[];
  /** Returns the code of a worker that reports each call of its jobs under the name of its daemon. */
  readonly codeFor: (daemon: string) => string;
  readonly close: () => Server;
}

/** Starts a server that records the calls of cron jobs on several daemons. The workers need the network mode `all`. */
export async function recordCronCalls(): Promise<CronRecorder> {
  const calls: CronCall[] = [];
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? "/", "http://recorder");
    calls.push({ job: pathname, daemon: searchParams.get("daemon") ?? "", atMs: Date.now() });
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const codeFor = (daemon: string) => `export default { fetch: async (request) => {
  await fetch(${JSON.stringify(url)} + new URL(request.url).pathname + "?daemon=${daemon}");
  return new Response(null, { status: 204 });
} };`;
  return { calls, codeFor, close: () => server.close() };
}
