import { get } from "node:http";
import { text } from "node:stream/consumers";
import { compareLoad } from "../support/compare-load.mjs";
import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { workerOf } from "../support/worker-source.mjs";

export const name = "host names";

const hostCount = 2000;

/** Measures the cost of finding a worker by the Host header. The baseline is the same worker at its path. */
export async function run(stage) {
  const daemon = await startDaemon(stage, { workers: { app: await workerOf("ok.js") } });
  const hosts = Array.from({ length: hostCount }, (_, index) => `w${index}.example.org`);
  for (const host of hosts) await addHost(daemon, host);
  await expectAnswer(`${daemon.url}/app/`, { text: "ok" });
  for (const host of [hosts[0], hosts.at(-1)]) await expectOk(daemon, host);

  const one = hosts[hostCount / 2];
  const path = { url: `${daemon.url}/app/` };
  const oneHost = { url: `${daemon.url}/`, paths: ["/"], hosts: [one] };
  const rows = await compareLoad(
    stage,
    { work: "one of 2,000 host names, 32 connections", against: "the path of the same worker", target: { atLeast: 0.95 } },
    { ours: oneHost, theirs: { ...path, paths: ["/app/"] } },
  );
  // Both sides receive the same queries, so that the load generator does the same work.
  const queries = hosts.map((_, index) => `?${index}`);
  const inTurn = { url: `${daemon.url}/`, paths: queries.map((query) => `/${query}`), hosts };
  const paths = queries.map((query) => `/app/${query}`);
  rows.push(
    ...(await compareLoad(
      stage,
      { work: "2,000 host names in turn, 32 connections", against: "the path of the same worker", target: { atLeast: 0.95 } },
      { ours: inTurn, theirs: { ...path, paths } },
    )),
  );
  return rows;
}

async function addHost({ url, headers }, host) {
  const response = await fetch(`${url}/api/hosts/${host}`, {
    method: "PUT",
    headers: { ...headers, "content-type": "application/json" },
    body: JSON.stringify({ worker: "app" }),
  });
  if (!response.ok) throw new Error(`PUT /api/hosts/${host} answered ${response.status}: ${await response.text()}`);
}

/** Uses node:http, because `fetch` ignores a Host header of the caller. */
async function expectOk({ url }, host) {
  const response = await new Promise((resolve, reject) => get(url, { headers: { host } }, resolve).once("error", reject));
  const body = await text(response);
  if (body !== "ok") throw new Error(`${host} answered ${response.statusCode}: ${body}`);
}
