import { once } from "node:events";
import { rename, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { availableParallelism } from "node:os";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { ServedVersion } from "../../../src/server/workers/engine/version-handler.js";
import { WorkerServer } from "../../support/worker-server.js";

const app = (text: string) => `
import { readFileSync } from "node:fs";
let served = 0;
let open = [];
export default {
  async fetch(request, env, ctx) {
    const { pathname, searchParams } = new URL(request.url);
    served += 1;
    if (pathname === "/pid") return new Response(String(process.pid));
    if (pathname === "/served") return new Response(String(served));
    if (pathname === "/hold") await new Promise((resolve) => open.push(resolve));
    if (pathname === "/open") return new Response(String(open.length));
    if (pathname === "/release") { for (const resolve of open.splice(0)) resolve(); }
    if (pathname === "/wait") await new Promise((resolve) => setTimeout(resolve, Number(searchParams.get("ms"))));
    if (pathname === "/file") return new Response(readFileSync(new URL("own.txt", import.meta.url)));
    if (pathname === "/background") ctx.waitUntil(new Promise((resolve) => setTimeout(resolve, 300)).then(() => console.log("background done")));
    if (pathname === "/background-fails") ctx.waitUntil(Promise.reject(new Error("background failed")));
    return new Response(${JSON.stringify(text)});
  },
  onIdle() { console.log("idle now"); },
  onTerminate() { console.log("terminating"); },
};`;
const files = (text: string) => ({ "index.js": app(text), "own.txt": text });

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start({ poolSize: 4 });
});
afterAll(() => server.stop());

const logged = (worker: string, text: string) => server.log.some((line) => line.worker === worker && line.msg.includes(text));

const isolatesOf = (worker: string) => server.engine.numbers().find(({ meter }) => meter.name === worker)?.currentLoad?.pids.length;

const restart = (version: ServedVersion) => server.engine.restart(version.folder);

describe("the isolate of a worker", () => {
  test("serves single requests and 200 concurrent requests", async () => {
    await server.add("steady", { files: files("steady") });
    const pid = await server.text("/steady/pid");
    const answers = await Promise.all(Array.from({ length: 200 }, () => server.text("/steady/")));
    expect(new Set(answers)).toEqual(new Set(["steady"]));
    expect(await server.text("/steady/pid")).toBe(pid);
  });

  test("ignores SIGINT, SIGTERM and SIGHUP", async () => {
    await server.add("deaf", { files: files("deaf") });
    const pid = await server.text("/deaf/pid");
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.kill(Number(pid), signal);
    expect(await server.text("/deaf/pid")).toBe(pid);
    expect(await server.text("/deaf/pid")).toBe(pid);
  });

  test("serves only one request when the worker has ttl: 0", async () => {
    await server.add("fresh", { files: files("fresh"), manifest: { ttl: 0 } });
    const pids = await Promise.all(Array.from({ length: 6 }, () => server.text("/fresh/pid")));
    expect(new Set(pids).size).toBe(6);
    expect(await server.text("/fresh/served")).toBe("1");
  });

  test("is started in advance for a worker with ttl: 0, and stops after idleTimeout", async () => {
    const version = await server.add("prepared", { files: files("prepared"), manifest: { ttl: 0, idleTimeout: "300ms" } });
    await server.text("/prepared/");
    await expect.poll(() => isolatesOf("prepared")).toBeGreaterThan(0);
    await expect.poll(() => isolatesOf("prepared"), { timeout: 10_000 }).toBe(0);
    expect(await server.text("/prepared/served")).toBe("1");
    server.remove("prepared");
    await server.engine.retire(version.folder, undefined);
  });

  test("is replaced after maxRequests, and no request is lost or blocked", async () => {
    await server.add("limited", { files: files("limited"), manifest: { maxRequests: 5 } });
    const first = await server.text("/limited/pid");
    await expect.poll(() => server.text("/limited/pid")).not.toBe(first);
    const served = Array.from({ length: 50 }, () => server.text("/limited/"));
    expect(new Set(await Promise.all(served))).toEqual(new Set(["limited"]));
  });

  test("continues beyond maxRequests when the worker's new code cannot load", async () => {
    const version = await server.add("irreplaceable", { files: files("irreplaceable"), manifest: { maxRequests: 2 } });
    const pid = await server.text("/irreplaceable/pid");
    await writeFile(path.join(version.folder, "index.js"), "throw new Error('broken later');");
    for (let index = 0; index < 10; index += 1) expect(await server.text("/irreplaceable/pid")).toBe(pid);
    await expect.poll(() => logged("irreplaceable", "broken later")).toBe(true);
    expect(await server.text("/irreplaceable/pid")).toBe(pid);
  });

  test("runs onIdle after idleTimeout, and onTerminate at the end of its ttl", async () => {
    await server.add("idle", { files: files("idle"), manifest: { idleTimeout: "100ms", ttl: "600ms" } });
    const pid = await server.text("/idle/pid");
    await expect.poll(() => logged("idle", "idle now"), { timeout: 10_000 }).toBe(true);
    await expect.poll(() => logged("idle", "terminating"), { timeout: 10_000 }).toBe(true);
    expect(await server.text("/idle/pid")).not.toBe(pid);
  });

  test("runs together with a second isolate when the worker is busy and has instances: 2", async () => {
    await server.add("twins", { files: files("twins"), manifest: { instances: 2 } });
    await server.text("/twins/");
    await expect
      .poll(
        async () =>
          new Set(await Promise.all([server.text("/twins/pid"), server.text("/twins/pid"), server.text("/twins/wait?ms=50")])).size,
      )
      .toBe(3);
  });

  test("completes waitUntil promises before it stops", async () => {
    const version = await server.add("background", { files: files("background") });
    await server.text("/background/background");
    await server.text("/background/background-fails");
    server.remove("background");
    await server.engine.retire(version.folder, undefined);
    expect(logged("background", "background done")).toBe(true);
    expect(logged("background", "background failed")).toBe(true);
  });
});

describe("a worker with instances: auto", () => {
  const busy = `
    let until = 0;
    const work = () => { const end = Date.now() + 20; while (Date.now() < end); };
    export default { fetch: (request) => { if (request.url.endsWith("/work")) work(); return new Response(String(process.pid)); } };`;

  test.runIf(availableParallelism() > 1)("starts a second isolate for CPU load, but not for waiting requests", async () => {
    await server.add("auto", { files: { "index.js": busy }, manifest: { instances: "auto" } });
    await Promise.all(Array.from({ length: 50 }, () => server.text("/auto/")));
    expect(isolatesOf("auto")).toBe(1);
    const load = { isOver: false };
    const clients = Array.from({ length: 4 }, async () => {
      while (!load.isOver) await server.text("/auto/work");
    });
    await expect.poll(() => isolatesOf("auto"), { timeout: 15_000 }).toBeGreaterThanOrEqual(2);
    load.isOver = true;
    await Promise.all(clients);
  });
});

describe("the restart of a worker", () => {
  test("starts a new isolate for the next request, and completes running requests", async () => {
    const version = await server.add("restarted", { files: files("restarted") });
    const held = server.text("/restarted/wait?ms=300");
    const pid = await server.text("/restarted/pid");
    expect(await restart(version)).toBe(1);
    expect(await server.text("/restarted/pid")).not.toBe(pid);
    expect(await held).toBe("restarted");
    await expect.poll(() => logged("restarted", "terminating")).toBe(true);
  });

  test("loses no request under load", async () => {
    const version = await server.add("restarted-often", { files: files("often"), manifest: { instances: 2 } });
    const load = { isOver: false };
    const pids = new Set<string>();
    const clients = Array.from({ length: 4 }, async () => {
      while (!load.isOver) {
        const response = await server.fetch("/restarted-often/pid");
        expect(response.status).toBe(200);
        pids.add(await response.text());
      }
    });
    for (let count = 1; count <= 5; count += 1) {
      const before = pids.size;
      await expect.poll(() => pids.size).toBeGreaterThanOrEqual(before);
      await restart(version);
      await expect.poll(() => pids.size).toBeGreaterThan(before);
    }
    load.isOver = true;
    await Promise.all(clients);
  });

  test("ends the start delay of a crashed worker, and does not start an idle worker", async () => {
    const version = await server.add("left-alone", { files: { "index.js": "process.exit(1)" } });
    await expect.poll(async () => (await server.refusal("/left-alone/")).code).toBe("WORKER_UNAVAILABLE");
    await writeFile(path.join(version.folder, "index.js"), "export default { fetch: () => new Response('well') }");
    expect(await restart(version)).toBe(0);
    expect(await server.text("/left-alone/")).toBe("well");
    expect(await restart(await server.add("never-called", { files: files("never") }))).toBe(0);
  });
});

describe("the pool of all isolates", () => {
  test("has room for a new worker even if all isolates are busy", async () => {
    const names = ["p", "q", "r", "s"];
    for (const name of [...names, "newcomer"]) await server.add(`never-idle-${name}`, { files: files(name) });
    const load = { isOver: false };
    const clients = names.flatMap((name) =>
      [1, 2, 3].map(async () => {
        while (!load.isOver) expect(await server.text(`/never-idle-${name}/wait?ms=30`)).toBe(name);
      }),
    );
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(await server.text("/never-idle-newcomer/")).toBe("newcomer");
    load.isOver = true;
    await Promise.all(clients);
  });

  test("rejects a request with Retry-After when 1024 requests of the worker wait", async () => {
    const gate = createServer();
    gate.listen(0, "127.0.0.1");
    await once(gate, "listening");
    const asksToEnter = once(gate, "request");
    const { port } = gate.address() as AddressInfo;
    await server.add("crowded", {
      files: { "index.js": `await fetch("http://127.0.0.1:${port}/"); export default { fetch: () => new Response("at last") };` },
    });
    let answeredCount = 0;
    const asked = Array.from({ length: 1100 }, () => server.fetch("/crowded/").finally(() => (answeredCount += 1)));
    await expect.poll(() => answeredCount).toBe(1100 - 1024);
    const [, entrance] = (await asksToEnter) as [IncomingMessage, ServerResponse];
    entrance.end();
    const answers = await Promise.all(asked);
    gate.close();
    const refused = answers.filter(({ status }) => status === 503);
    expect(refused.length).toBe(1100 - 1024);
    expect(refused[0]?.headers.get("retry-after")).toBe("1");
    expect(answers.filter(({ status }) => status === 200).length).toBe(1024);
    await Promise.all(answers.map((answer) => answer.text()));
  });

  test("stops the isolate with the longest idle time, but no busy isolate", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await server.add(`pool-${name}`, { files: files(name) });
    const held = server.text("/pool-a/hold");
    // A response to the held request would show that it ended early.
    await expect.poll(() => Promise.race([held, server.text("/pool-a/open")])).toBe("1");
    const pid = await server.text("/pool-a/pid");
    for (const name of ["b", "c", "d", "e", "b", "c", "d", "e"]) expect(await server.text(`/pool-${name}/`)).toBe(name);
    expect(await server.text("/pool-a/pid")).toBe(pid);
    await server.text("/pool-a/release");
    expect(await held).toBe("a");
  });

  test("delays requests while all isolates are busy, and rejects them at the timeout", async () => {
    for (const name of ["f", "g", "h", "i"]) await server.add(`pool-${name}`, { files: files(name) });
    await server.add("pool-late", { files: files("late"), manifest: { timeout: "300ms" } });
    await server.add("pool-patient", { files: files("patient") });
    const names = ["f", "g", "h", "i"];
    const held = names.map((name) => server.text(`/pool-${name}/hold`));
    for (const name of names) await expect.poll(() => server.text(`/pool-${name}/open`)).toBe("1");
    expect(await server.refusal("/pool-late/")).toMatchObject({ status: 503, code: "WORKER_POOL_SATURATED", retryAfter: "1" });
    const patient = server.text("/pool-patient/");
    for (const name of names) await server.text(`/pool-${name}/release`);
    expect(await Promise.all(held)).toEqual(names);
    expect(await patient).toBe("patient");
  });
});

describe("a worker version that is replaced", () => {
  test("completes running requests with old files while the new version serves new ones", async () => {
    const old = await server.add("swap", { files: files("old") });
    const held = server.text("/swap/hold");
    const oldPid = await server.text("/swap/pid");
    await expect.poll(() => server.text("/swap/open")).toBe("1");
    const lateReader = server.text("/swap/wait?ms=1000");
    // Like an upload: moves the old folder aside and the new one in its place.
    const aside = `${old.folder}-aside`;
    await rename(old.folder, aside);
    const next = await server.add("swap-next", { files: files("new") });
    await rename(next.folder, old.folder);
    server.serve("swap", { folder: old.folder, version: "latest", manifest: {} });
    let isRetired = false;
    const retired = server.engine.retire(old.folder, aside).then(() => (isRetired = true));
    expect(await server.text("/swap/file")).toBe("new");
    expect(await server.text("/swap/pid")).not.toBe(oldPid);
    expect(await lateReader).toBe("old");
    expect(isRetired).toBe(false);
    process.kill(Number(oldPid), 0);
    expect(await server.text("/swap/release")).toBe("new");
    // No request can reach the old isolate: its held call ends only with a timeout.
    process.kill(Number(oldPid), "SIGKILL");
    expect(JSON.parse(await held)).toMatchObject({ error: { code: "WORKER_CRASHED" } });
    await retired;
    server.remove("swap-next");
  });

  test("loses no request under load", async () => {
    const current = { version: await server.add("load", { files: files("0") }) };
    const load = { isOver: false };
    const seen = new Set<string>();
    const clients = Array.from({ length: 8 }, async () => {
      let answers = 0;
      while (!load.isOver) {
        const response = await server.fetch("/load/wait?ms=1");
        expect(response.status).toBe(200);
        seen.add(await response.text());
        answers += 1;
      }
      return answers;
    });
    const retirements: Promise<void>[] = [];
    for (let generation = 1; generation <= 8; generation += 1) {
      const { folder } = current.version;
      current.version = await server.add("load", { files: files(String(generation)) });
      retirements.push(server.engine.retire(folder, undefined));
      await expect.poll(() => seen.has(String(generation))).toBe(true);
    }
    load.isOver = true;
    await Promise.all([...clients, ...retirements]);
    expect(await server.text("/load/")).toBe("8");
  });
});

test("the pool of all isolates completes running requests when it closes", async () => {
  const closing = await WorkerServer.start();
  await closing.add("slow", { files: files("slow") });
  const pid = Number(await closing.text("/slow/pid"));
  const answer = closing.text("/slow/wait?ms=300");
  await expect.poll(() => closing.text("/slow/served")).not.toBe("1");
  await Promise.all([closing.stop(), answer]);
  expect(await answer).toBe("slow");
  expect(() => process.kill(pid, 0)).toThrow("ESRCH");
  expect(path.isAbsolute(closing.directory)).toBe(true);
});
