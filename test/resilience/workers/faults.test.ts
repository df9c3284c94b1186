import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
let neighborPid: string;
let offenders = 0;

beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("neighbor", { fixture: "faults" });
  neighborPid = await server.text("/neighbor/pid");
});
afterAll(() => server.stop());

/** Sends requests to the other worker until stopped and checks every response. */
class Asking {
  #isStopped = false;
  readonly #asked: Promise<number>;

  constructor() {
    this.#asked = this.#ask();
    this.#asked.catch(() => undefined);
  }

  stop(): Promise<number> {
    this.#isStopped = true;
    return this.#asked;
  }

  async #ask(): Promise<number> {
    let answers = 0;
    while (!this.#isStopped) {
      expect(await server.text("/neighbor/ok")).toBe("ok");
      answers += 1;
    }
    return answers;
  }
}

let neighbor: Asking;
beforeEach(() => {
  neighbor = new Asking();
});
afterEach(async () => {
  expect(await neighbor.stop()).toBeGreaterThan(0);
  expect(await server.text("/neighbor/pid")).toBe(neighborPid);
});

/** Installs a new faulty app and starts its isolate. */
async function offender(manifest: Record<string, unknown> = {}): Promise<string> {
  offenders += 1;
  const name = `offender-${offenders}`;
  await server.add(name, { fixture: "faults", manifest: { memory: "64mb", timeout: "20s", ...manifest } });
  expect(await server.text(`/${name}/ok`)).toBe("ok");
  return name;
}

describe("a worker that fails while other workers have requests", () => {
  test.each(["/throw", "/throw-null", "/throw-proxy"])(
    "causes WORKER_BAD_RESPONSE, without details of its error (path %s)",
    async (fault) => {
      const name = await offender();
      const refusal = await server.refusal(`/${name}${fault}`);
      expect(refusal).toMatchObject({ status: 502, code: "WORKER_BAD_RESPONSE" });
      expect(refusal.message).not.toContain("secret detail");
      expect(await server.text(`/${name}/ok`)).toBe("ok");
    },
  );

  test("has the reason for the failure in its log", async () => {
    const name = await offender();
    await server.refusal(`/${name}/throw`);
    await expect.poll(() => server.log.some((line) => line.worker === name && line.msg.includes("secret detail"))).toBe(true);
  });

  test.each(["/exit", "/abort", "/heap-push", "/heap-map", "/heap-fill", "/close-descriptors", "/garbage", "/forged"])(
    "loses only its isolate; the next request starts a new isolate (path %s)",
    async (fault) => {
      const name = await offender();
      const memoryBefore = process.memoryUsage().rss;
      expect(await server.refusal(`/${name}${fault}`)).toMatchObject({ status: 502, code: "WORKER_CRASHED" });
      expect(await server.text(`/${name}/ok`)).toBe("ok");
      expect(process.memoryUsage().rss - memoryBefore).toBeLessThan(100 * 1024 * 1024);
    },
  );

  test.each(["/buffers", "/wasm"])("is stopped when it exceeds its memory limit (path %s)", async (fault) => {
    const name = await offender();
    expect((await server.refusal(`/${name}${fault}`)).status).toBe(502);
    expect(await server.text(`/${name}/ok`)).toBe("ok");
  });

  test.each(["/loop", "/microtask-loop"])("causes WORKER_TIMEOUT, and then serves from a new isolate (path %s)", async (fault) => {
    const name = await offender({ timeout: "500ms" });
    const pid = await server.text(`/${name}/pid`);
    expect(await server.refusal(`/${name}${fault}`)).toMatchObject({ status: 504, code: "WORKER_TIMEOUT" });
    await expect.poll(async () => (await server.fetch(`/${name}/pid`)).text(), { timeout: 10_000 }).toMatch(/^\d+$/);
    expect(await server.text(`/${name}/pid`)).not.toBe(pid);
  });

  test("keeps its isolate when one request exceeds the timeout", async () => {
    const name = await offender({ timeout: "300ms" });
    const pid = await server.text(`/${name}/pid`);
    expect(await server.refusal(`/${name}/never`)).toMatchObject({ status: 504, code: "WORKER_TIMEOUT" });
    expect(await server.text(`/${name}/pid`)).toBe(pid);
  });

  test("loses its isolate when a file read blocks the event loop permanently", async () => {
    const version = await server.add("blocked", { fixture: "faults", manifest: { timeout: "500ms" } });
    await promisify(execFile)("mkfifo", [path.join(version.folder, "fifo")]);
    expect(await server.refusal("/blocked/read-fifo")).toMatchObject({ status: 504, code: "WORKER_TIMEOUT" });
    await expect.poll(() => server.text("/blocked/ok"), { timeout: 10_000 }).toBe("ok");
  });

  test.each(["/reject-later", "/throw-later", "/promises"])(
    "completes its response, and then its isolate stops (path %s)",
    async (fault) => {
      const name = await offender();
      const pid = await server.text(`/${name}/pid`);
      expect(await server.text(`/${name}${fault}`)).toBe("answered");
      await expect.poll(() => server.text(`/${name}/pid`)).not.toBe(pid);
      expect(server.log.some((line) => line.worker === name && /escaped|unawaited|nobody|timer/.test(line.msg))).toBe(true);
    },
  );

  test("keeps 100 to 3000 of the log lines that it writes in an endless loop", async () => {
    const name = await offender();
    expect(await server.text(`/${name}/log-flood`)).toBe("logged");
    const lines = server.log.filter((line) => line.worker === name && line.source === "app");
    expect(lines.length).toBeGreaterThan(100);
    expect(lines.length).toBeLessThan(3000);
  });
});

const isLogged = (name: string, text: string) => server.log.some((line) => line.worker === name && line.msg.includes(text));

/** Sends a request and aborts it after the app logged its start. */
async function giveUp(name: string, target: string, sign: string): Promise<void> {
  const client = new AbortController();
  const answer = server.fetch(`/${name}${target}`, { signal: client.signal });
  await expect.poll(() => isLogged(name, sign), { interval: 10 }).toBe(true);
  // Until the isolate has been silent for 100 ms, a request that follows can still be sent to it.
  await new Promise((resolve) => setTimeout(resolve, 100));
  client.abort();
  await expect(answer).rejects.toThrow("abort");
}

describe("an isolate whose event loop is blocked when a client disconnects", () => {
  const blocked = "the event loop is blocked";

  test("is replaced at the next request, which succeeds", async () => {
    const name = await offender();
    const startedAt = performance.now();
    await giveUp(name, "/announced-loop", "the loop begins");
    expect(await server.text(`/${name}/ok`)).toBe("ok");
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(isLogged(name, blocked)).toBe(true);
  });

  test("is stopped at the timeout of the cancelled request even if no request follows", async () => {
    const name = await offender({ timeout: "500ms" });
    await giveUp(name, "/announced-loop", "the loop begins");
    await expect.poll(() => isLogged(name, blocked), { timeout: 10_000 }).toBe(true);
  });

  test("is not replaced if it continues before the timeout and no request waits", async () => {
    const name = await offender();
    const pid = await server.text(`/${name}/pid`);
    await giveUp(name, "/announced-work?ms=2500", "the work begins");
    await new Promise((resolve) => setTimeout(resolve, 2500));
    expect(await server.text(`/${name}/pid`)).toBe(pid);
  });

  test("is not replaced when another client's request blocks the event loop", async () => {
    const name = await offender();
    const pid = await server.text(`/${name}/pid`);
    const client = new AbortController();
    const givenUp = server.fetch(`/${name}/never`, { signal: client.signal });
    const wanted = server.text(`/${name}/announced-work?ms=3000`);
    await expect.poll(() => isLogged(name, "the work begins"), { interval: 10 }).toBe(true);
    client.abort();
    await expect(givenUp).rejects.toThrow("abort");
    const waiting = server.text(`/${name}/pid`);
    expect(await wanted).toBe("worked");
    expect(await waiting).toBe(pid);
    expect(isLogged(name, blocked)).toBe(false);
  });
});

describe("a worker that cannot start", () => {
  test.each([
    ["throws", `throw new Error("no database");`, "Error: no database"],
    ["throws null", `throw null;`, "null"],
    ["has a syntax error", `export default {`, "SyntaxError"],
    ["exports nothing to call", `export const version = 1;`, "must export"],
    ["imports a missing file", `import "./none.js"; export default {}`, "none.js"],
    ["throws a very long text", `throw new Error("x".repeat(100_000));`, "xxx"],
  ])("causes WORKER_START_FAILED with a one-line message (the module %s)", async (what, source, text) => {
    const name = `start-${what.replaceAll(" ", "-")}`;
    await server.add(name, { files: { "index.js": source } });
    const refusal = await server.refusal(`/${name}/`);
    expect(refusal).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    expect(refusal.message).toContain(text);
    expect(refusal.message.length).toBeLessThan(1200);
    expect(refusal.message).not.toContain(server.directory);
    expect(refusal.message).not.toContain("\n");
  });

  test("is started less often after it crashes repeatedly while it loads", async () => {
    await server.add("crash-loop", { files: { "index.js": "process.exit(1)" } });
    const answers = [];
    for (let index = 0; index < 20; index += 1) answers.push(await server.refusal("/crash-loop/"));
    expect(answers[0]).toMatchObject({ status: 502, code: "WORKER_START_FAILED" });
    expect(answers.at(-1)).toMatchObject({ status: 503, code: "WORKER_UNAVAILABLE", retryAfter: expect.stringMatching(/^\d+$/) });
    const starts = server.log.filter((line) => line.worker === "crash-loop" && line["code"] === "WORKER_START_FAILED");
    expect(starts.length).toBeLessThan(12);
  });

  test("causes WORKER_START_FAILED after 5 s when an import never completes", async () => {
    await server.add("stuck", { files: { "index.js": "await new Promise(() => {});" }, manifest: { timeout: "300ms" } });
    expect(await server.refusal("/stuck/")).toMatchObject({
      status: 502,
      code: "WORKER_START_FAILED",
      message: expect.stringContaining("5000 ms"),
    });
  });
});
