import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;

beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("traced", {
    files: {
      "index.js": `export default { fetch: (request) => new Response(request.headers.get("traceparent")) }`,
    },
  });
});
afterAll(() => server.stop());

const send = async (headers: Readonly<Record<string, string>>) => (await server.fetch("/traced/", { headers })).text();

describe("the traceparent header of a request that a worker receives", () => {
  test("equals the client's traceparent when the client's value is valid", async () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00";
    expect(await send({ traceparent })).toBe(traceparent);
  });

  test.each([
    "",
    "00-00000000000000000000000000000000-b7ad6b7169203331-01",
    "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
    "ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01",
    "text",
  ])("is a new value when the client sends %j", async (invalid) => {
    const traceparent = await send({ traceparent: invalid, "x-request-id": "from-the-client" });
    expect(traceparent).toMatch(/^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-01$/);
    if (invalid !== "") expect(traceparent).not.toContain(invalid.slice(3, 20));
  });
});
