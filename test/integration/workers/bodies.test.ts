import { once } from "node:events";
import http from "node:http";
import { connect } from "node:net";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

const megabyte = 1024 * 1024;
/** Maximum growth of the daemon's memory for a body of any length. */
const boundedGrowthBytes = 64 * megabyte;
const app = `
let aborted = 0;
let cancelled = 0;
let writeSecondPart;
const wait = () => new Promise((resolve) => setTimeout(resolve, 5));
const piece = new Uint8Array(64 * 1024).fill(97);
const endless = () => new ReadableStream({ pull: (controller) => controller.enqueue(piece), cancel: () => { cancelled += 1; } });
const handlers = {
  "/echo": (request) => new Response(request.body),
  "/count": async (request) => { let bytes = 0; for await (const chunk of request.body) bytes += chunk.byteLength; return new Response(String(bytes)); },
  "/length": async (request) => new Response(String((await request.arrayBuffer()).byteLength)),
  "/download": (request) => {
    let left = Number(new URL(request.url).searchParams.get("bytes"));
    return new Response(new ReadableStream({ pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(piece.subarray(0, Math.min(left, piece.length)));
      left -= piece.length;
    } }));
  },
  "/plain": (request) => new Response("é".repeat(Number(new URL(request.url).searchParams.get("length")))),
  "/endless": endless,
  "/endless-response": () => new Response(endless()),
  "/slow": (request) => { request.signal.addEventListener("abort", () => { aborted += 1; }); return new Promise(() => {}); },
  "/counters": () => Response.json({ aborted, cancelled }),
  "/two-parts": () => new Response(new ReadableStream({ async start(controller) {
    controller.enqueue(new TextEncoder().encode("one,"));
    await new Promise((resolve) => { writeSecondPart = resolve; });
    controller.enqueue(new TextEncoder().encode("two"));
    controller.close();
  } })),
  "/write-second-part": () => { writeSecondPart(); return new Response(); },
  "/broken": () => new Response(new ReadableStream({ start(controller) { controller.enqueue(piece); }, async pull(controller) { await wait(); controller.error(new Error("lost")); } })),
  "/not-bytes": () => new Response(new ReadableStream({ start(controller) { controller.enqueue({ not: "bytes" }); } })),
  "/die-midway": () => new Response(new ReadableStream({ start(controller) { controller.enqueue(piece); setTimeout(() => process.exit(), 20); } })),
  "/stall": () => new Response(new ReadableStream({ start(controller) { controller.enqueue(piece); } })),
  "/claims-more": () => new Response(new ReadableStream({ start(controller) { controller.enqueue(piece.slice(0, 5)); controller.close(); } }), { headers: { "content-length": "10" } }),
  "/claims-less": () => new Response(new ReadableStream({ start(controller) { controller.enqueue(piece.slice(0, 5)); controller.close(); } }), { headers: { "content-length": "3" } }),
  "/ignore": () => new Response("ignored"),
  "/first": async (request) => { const reader = request.body.getReader(); await reader.read(); await reader.cancel(); return new Response("enough"); },
  "/cancel-later": (request) => { const reader = request.body.getReader(); setTimeout(() => reader.cancel().catch(() => {}), 20); return new Response("early"); },
  "/read-later": (request) => { const reader = request.body.getReader(); setTimeout(async () => { try { while (!(await reader.read()).done); } catch {} }, 20); return new Response("early"); },
  "/pid": () => new Response(String(process.pid)),
};
export default { fetch: (request) => handlers[new URL(request.url).pathname](request) };`;

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("bodies", { files: { "index.js": app }, manifest: { maxBodySize: "250mb", timeout: "5s" } });
  await server.add("small", { files: { "index.js": app }, manifest: { maxBodySize: "20kb", timeout: "500ms" } });
});
afterAll(() => server.stop());

function upload(bytes: number): ReadableStream<Uint8Array> {
  const piece = new Uint8Array(64 * 1024).fill(97);
  let left = bytes;
  return new ReadableStream({
    pull(controller) {
      if (left <= 0) return controller.close();
      controller.enqueue(piece.subarray(0, Math.min(left, piece.length)));
      left -= piece.length;
    },
  });
}

const counters = async () => (await (await server.fetch("/bodies/counters")).json()) as { aborted: number; cancelled: number };

describe("the bodies of requests and responses", () => {
  test.each([0, 1, 1000, 16 * 1024, 16 * 1024 + 1, 300_000, 5 * megabyte])(
    "arrive unchanged in both directions with a size of %i bytes",
    async (bytes) => {
      const body = Buffer.alloc(bytes, "abcdefghij");
      const echoed = Buffer.from(await (await server.fetch("/bodies/echo", { method: "POST", body })).arrayBuffer());
      expect(echoed.equals(body)).toBe(true);
      expect(await server.text("/bodies/length", { method: "POST", body })).toBe(String(bytes));
    },
  );

  test.each([0, 1, 5000, 100_000, 200_000, 3 * megabyte])(
    "arrive complete, with a Content-Length, when they have %i non-ASCII characters",
    async (length) => {
      const response = await server.fetch(`/bodies/plain?length=${length}`);
      expect(response.headers.get("content-length")).toBe(String(2 * length));
      expect(await response.text()).toBe("é".repeat(length));
    },
  );

  test("arrive in chunks while the worker is still writing the body", async () => {
    const reader = (await server.fetch("/bodies/two-parts")).body!.pipeThrough(new TextDecoderStream()).getReader();
    expect((await reader.read()).value).toBe("one,");
    await server.text("/bodies/write-second-part");
    expect((await reader.read()).value).toBe("two");
    expect((await reader.read()).done).toBe(true);
  });

  test("use limited memory in the daemon for an upload of 200 MB", async () => {
    const watch = watchMemory();
    const body = upload(200 * megabyte);
    expect(await server.text("/bodies/count", { method: "POST", body, duplex: "half" })).toBe(String(200 * megabyte));
    // The client of this test runs in the same process.
    expect(watch.stop()).toBeLessThan(2 * boundedGrowthBytes);
  });

  test("use limited memory in the daemon when a client pauses a download of 200 MB", async () => {
    const watch = watchMemory();
    const response = await request("/bodies/download?bytes=209715200");
    response.pause();
    await new Promise((resolve) => setTimeout(resolve, 300));
    let bytes = 0;
    response.on("data", (chunk: Buffer) => (bytes += chunk.length));
    response.resume();
    await once(response, "end");
    expect(bytes).toBe(200 * megabyte);
    expect(watch.stop()).toBeLessThan(2 * boundedGrowthBytes);
  });

  test("use limited memory in the daemon for 20 endless responses that no client reads", async () => {
    const watch = watchMemory();
    const responses = await Promise.all(Array.from({ length: 20 }, () => request("/bodies/endless-response")));
    for (const response of responses) response.pause();
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(watch.stop()).toBeLessThan(boundedGrowthBytes);
    const before = (await counters()).cancelled;
    for (const response of responses) response.destroy();
    await expect.poll(async () => (await counters()).cancelled - before).toBe(20);
  });

  test("block neither the response nor the next request when the worker ignores the body", async () => {
    expect(await server.text("/bodies/ignore", { method: "POST", body: Buffer.alloc(2 * megabyte) })).toBe("ignored");
    expect(await server.text("/bodies/first", { method: "POST", body: Buffer.alloc(2 * megabyte) })).toBe("enough");
    expect(await server.text("/bodies/ignore", { method: "POST", body: upload(2 * megabyte), duplex: "half" })).toBe("ignored");
  });

  test.each(["/cancel-later", "/read-later"])(
    "do not crash an isolate that uses a request body after its response (path %s)",
    async (target) => {
      const pid = await server.text("/bodies/pid");
      for (let count = 0; count < 5; count += 1) {
        expect(await server.text(`/bodies${target}`, { method: "POST", body: Buffer.alloc(2 * megabyte) })).toBe("early");
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
      expect(await server.text("/bodies/pid")).toBe(pid);
    },
  );
});

describe("a request body above the size limit", () => {
  const tooLarge = { status: 413, code: "PAYLOAD_TOO_LARGE" };

  test("is rejected by its Content-Length before the worker receives the body", async () => {
    expect(await server.refusal("/small/echo", { method: "POST", body: Buffer.alloc(20 * 1024 + 1) })).toMatchObject(tooLarge);
  });

  test("is rejected without Content-Length when the received bytes exceed the limit", async () => {
    expect(await server.refusal("/small/length", { method: "POST", body: upload(100 * 1024), duplex: "half" })).toMatchObject(tooLarge);
  });

  test("does not affect the next request to the worker", async () => {
    expect(await server.text("/small/length", { method: "POST", body: Buffer.alloc(20 * 1024) })).toBe(String(20 * 1024));
  });
});

describe("the disconnection of a client", () => {
  test("aborts request.signal in the worker", async () => {
    const before = (await counters()).aborted;
    const abort = new AbortController();
    const response = server.fetch("/bodies/slow", { signal: abort.signal });
    await once(connectionProbe(), "seen");
    abort.abort();
    await expect(response).rejects.toThrow("abort");
    await expect.poll(async () => (await counters()).aborted - before).toBe(1);
  });

  test("cancels each response body in the worker when 1,000 clients disconnect", async () => {
    const before = (await counters()).cancelled;
    for (let batch = 0; batch < 10; batch += 1) {
      const responses = await Promise.all(Array.from({ length: 100 }, () => request("/bodies/endless-response")));
      for (const response of responses) response.destroy();
    }
    await expect.poll(async () => (await counters()).cancelled - before, { timeout: 20_000 }).toBe(1000);
    expect(await server.text("/bodies/ignore")).toBe("ignored");
  });

  test("affects no other request when the client is sending a request body", async () => {
    const socket = connect(server.port, "127.0.0.1");
    socket.write("POST /bodies/count HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n" + "x".repeat(50_000));
    await once(connectionProbe(), "seen");
    socket.destroy();
    expect(await server.text("/bodies/ignore")).toBe("ignored");
  });
});

describe("the incomplete response of a worker", () => {
  test.each(["/broken", "/die-midway", "/claims-more", "/claims-less"])(
    "closes the client's connection (worker path %s)",
    async (target) => {
      await expect(server.text(`/bodies${target}`)).rejects.toThrow();
    },
  );

  test("causes an error or closes the connection when a body chunk is not bytes", async () => {
    const outcome = await server.text("/bodies/not-bytes").then(
      (text) => text,
      () => "cut",
    );
    expect(outcome === "cut" || outcome.includes("WORKER_BAD_RESPONSE")).toBe(true);
  });

  test("closes the client's connection when the body stalls longer than the timeout", async () => {
    await expect(server.text("/small/stall")).rejects.toThrow();
    expect(await server.text("/small/ignore")).toBe("ignored");
  });
});

/** Emits `seen` when the server has handled all earlier requests. */
function connectionProbe(): http.ClientRequest {
  const probe = http.get({ host: "127.0.0.1", port: server.port, path: "/bodies/ignore" }, (response) => {
    response.resume();
    response.on("end", () => probe.emit("seen"));
  });
  return probe;
}

async function request(target: string): Promise<http.IncomingMessage> {
  const sent = http.get({ host: "127.0.0.1", port: server.port, path: target, agent: false });
  sent.on("error", () => undefined);
  const [response] = (await once(sent, "response")) as [http.IncomingMessage];
  response.on("error", () => undefined);
  return response;
}

/** Reports the maximum growth of this process's memory during the measurement. */
function watchMemory(): { stop: () => number } {
  const start = process.memoryUsage().rss;
  let peak = start;
  const look = (): number => (peak = Math.max(peak, process.memoryUsage().rss));
  const timer = setInterval(look, 10);
  return {
    stop: () => {
      clearInterval(timer);
      return look() - start;
    },
  };
}
