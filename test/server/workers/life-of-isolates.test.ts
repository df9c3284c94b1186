import { rename } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
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

describe("an isolate", () => {
  test("serves one request after the other, and many at once", async () => {
    await server.add("steady", { files: files("steady") });
    const pid = await server.text("/steady/pid");
    const answers = await Promise.all(Array.from({ length: 200 }, () => server.text("/steady/")));
    expect(new Set(answers)).toEqual(new Set(["steady"]));
    expect(await server.text("/steady/pid")).toBe(pid);
  });

  test("is a fresh one for each request with ttl 0", async () => {
    await server.add("fresh", { files: files("fresh"), manifest: { ttl: 0 } });
    const pids = await Promise.all(Array.from({ length: 6 }, () => server.text("/fresh/pid")));
    expect(new Set(pids).size).toBe(6);
    expect(await server.text("/fresh/served")).toBe("1");
  });

  test("is replaced after maxRequests, and no request is lost", async () => {
    await server.add("limited", { files: files("limited"), manifest: { maxRequests: 5 } });
    const pids = [];
    for (let index = 0; index < 12; index += 1) pids.push(await server.text("/limited/pid"));
    expect(new Set(pids).size).toBe(3);
    const answers = await Promise.all(Array.from({ length: 50 }, () => server.text("/limited/")));
    expect(new Set(answers)).toEqual(new Set(["limited"]));
  });

  test("hears onIdle after idleTimeout and goes after ttl with onTerminate", async () => {
    await server.add("idle", { files: files("idle"), manifest: { idleTimeout: "100ms", ttl: "600ms" } });
    const pid = await server.text("/idle/pid");
    await expect.poll(() => logged("idle", "idle now"), { timeout: 10_000 }).toBe(true);
    await expect.poll(() => logged("idle", "terminating"), { timeout: 10_000 }).toBe(true);
    expect(await server.text("/idle/pid")).not.toBe(pid);
  });

  test("is not alone with instances: 2 when one is busy", async () => {
    await server.add("twins", { files: files("twins"), manifest: { instances: 2 } });
    await server.text("/twins/");
    await expect
      .poll(
        async () =>
          new Set(await Promise.all([server.text("/twins/pid"), server.text("/twins/pid"), server.text("/twins/wait?ms=50")])).size,
      )
      .toBe(3);
  });

  test("finishes what waitUntil was given before it goes", async () => {
    const version = await server.add("background", { files: files("background") });
    await server.text("/background/background");
    await server.text("/background/background-fails");
    server.remove("background");
    await server.engine.retire(version.folder, undefined);
    expect(logged("background", "background done")).toBe(true);
    expect(logged("background", "background failed")).toBe(true);
  });
});

describe("the pool", () => {
  test("lets the longest idle isolate go for another worker, and never a busy one", async () => {
    for (const name of ["a", "b", "c", "d", "e"]) await server.add(`pool-${name}`, { files: files(name) });
    const held = server.text("/pool-a/hold");
    await expect.poll(() => server.text("/pool-a/open")).toBe("1");
    const pid = await server.text("/pool-a/pid");
    for (const name of ["b", "c", "d", "e", "b", "c", "d", "e"]) expect(await server.text(`/pool-${name}/`)).toBe(name);
    expect(await server.text("/pool-a/pid")).toBe(pid);
    await server.text("/pool-a/release");
    expect(await held).toBe("a");
  });

  test("makes a worker wait while all isolates are busy, and says so when it takes too long", async () => {
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

describe("replacing a version", () => {
  test("serves the new code at once and finishes the old, which still reads its own files", async () => {
    const old = await server.add("swap", { files: files("old") });
    const held = server.text("/swap/hold");
    const oldPid = await server.text("/swap/pid");
    await expect.poll(() => server.text("/swap/open")).toBe("1");
    const lateReader = server.text("/swap/wait?ms=50");
    // As an upload does it: the old folder aside, the new one in its place.
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
    // Nobody can reach the old isolate any more: its held call ends with the engine's patience or its own timeout.
    process.kill(Number(oldPid), "SIGKILL");
    expect(JSON.parse(await held)).toMatchObject({ error: { code: "WORKER_CRASHED" } });
    await retired;
    server.remove("swap-next");
  });

  test("under load loses no request", async () => {
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

test("closing finishes what is in flight and leaves no process", async () => {
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
