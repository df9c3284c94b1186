import { afterAll, beforeAll, expect, test } from "vitest";
import compatibility from "../../support/compatibility.json" with { type: "json" };
import { WorkerServer } from "../../support/worker-server.js";
// @ts-expect-error -- plain JavaScript, which a worker runs unchanged
import { outcomeOf, received, standalone } from "../../fixtures/workers/web-standards/assertions.js";

type Assertion = (request?: Request) => unknown;
const evaluate = outcomeOf as (assertion: Assertion, request?: Request) => Promise<unknown>;
const withoutRequest = standalone as [name: string, assertion: Assertion][];
const withRequest = received as [name: string, path: string, init: RequestInit, assertion: Assertion][];

const differences: readonly { readonly assertions: readonly string[] }[] = compatibility.differences;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("web-standards", { fixture: "web-standards" });
});
afterAll(() => server.stop());

test("an isolate has the web standards of Node.js, except for listed differences", { timeout: 60_000 }, async () => {
  const inIsolate = (await (await server.fetch("/web-standards/")).json()) as unknown[];
  const different: string[] = [];
  const compare = async (name: string, isolate: unknown, node: Promise<unknown>): Promise<void> => {
    if (JSON.stringify(isolate) !== JSON.stringify(JSON.parse(JSON.stringify(await node)))) different.push(name);
  };
  for (const [index, [name, assertion]] of withoutRequest.entries()) await compare(name, inIsolate[index], evaluate(assertion));
  for (const [index, [name, path, init, assertion]] of withRequest.entries()) {
    const headers = { ...(init.headers as Record<string, string>), "x-assertion": String(index) };
    const response = await server.fetch(`/web-standards${path}`, { ...init, headers });
    await compare(name, await response.json(), evaluate(assertion, new Request(`http://a.test${path}`, { ...init, headers })));
  }
  const listed = differences
    .flatMap(({ assertions }) => assertions)
    .filter((name) => name !== "typeof ErrorEvent" || !("ErrorEvent" in globalThis));
  expect(different.toSorted()).toEqual(listed.toSorted());
  expect(withoutRequest.length + withRequest.length).toBeGreaterThanOrEqual(800);
});
