import { once } from "node:events";
import { mkdir, readFile, rename } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import Database from "better-sqlite3";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { WebSocketClient } from "../../support/web-socket-client.js";
import { openConnection } from "../../support/exchange.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { runProgram } from "../../support/run-program.js";
import { expectRefusal } from "../../support/send.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";

/** Far below the 30 s after which the daemon cuts connections, far above what a slow machine needs. */
const promptMs = 15_000;

/** Sends SIGTERM and returns when the daemon has logged that it is stopping. */
async function beginToStop(daemon: TestDaemon): Promise<void> {
  daemon.process.kill("SIGTERM");
  await expect.poll(daemon.output, { timeout: 10_000, interval: 5 }).toContain('"stopping"');
}

const connectionRefused = (url: string) =>
  openConnection(url).then(
    () => undefined,
    (error: unknown) => error as NodeJS.ErrnoException,
  );

describe("a stopping daemon", () => {
  test("completes a running upload, installs the worker and exits with 0", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const archive = await packFiles({ "manifest.yaml": manifestOf("late", "1.0.0"), "index.html": "late" });
    const body = Buffer.concat([
      Buffer.from('--B\r\nContent-Disposition: form-data; name="file"; filename="late.tgz"\r\n\r\n'),
      archive,
      Buffer.from("\r\n--B--\r\n"),
    ]);
    const { socket, nextAnswer } = await openConnection(daemon.url);
    socket.write(
      `POST /api/workers/upload HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\nContent-Type: multipart/form-data; boundary=B\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`,
    );
    expect((await nextAnswer()).status).toBe(100);
    socket.write(body.subarray(0, 100));
    const exited = once(daemon.process, "exit");
    const startedAt = performance.now();
    await beginToStop(daemon);

    socket.write(body.subarray(100));

    expect((await nextAnswer()).status).toBe(201);
    expect(await exited).toEqual([0, null]);
    // The client keeps its connection open, which must not delay the exit.
    expect(performance.now() - startedAt).toBeLessThan(promptMs);
    const next = await startDaemon({ directory: daemon.directory });
    onTestFinished(next.dispose);
    expect((await connect(next.url, next.rootKey).workers.list()).map(({ name }) => name)).toContain("late");
  });

  test("closes WebSockets with the code 1001 and exits with 0", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const archive = await packFiles({
      "manifest.yaml": manifestOf("sockets", "1.0.0"),
      "index.js": await readFile(fileURLToPath(new URL("../../fixtures/workers/sockets/index.js", import.meta.url)), "utf8"),
      "package.json": '{"type":"module"}',
    });
    await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("sockets.tgz", archive) });
    const client = await WebSocketClient.open(`${daemon.url}/sockets/echo`);
    expect(await client.ask("hello")).toBe("hello");

    const code = daemon.stop();

    expect((await client.closed).code).toBe(1001);
    expect(await code).toBe(0);
  });

  test.each(["SIGINT", "SIGTERM"] as const)("logs no error when its process group receives %s while an isolate starts", async (signal) => {
    const daemon = await startDaemon({ launcher: ["setsid"] });
    onTestFinished(daemon.dispose);
    const archive = await packFiles({
      "manifest.yaml": manifestOf("app", "1.0.0"),
      "index.js": 'export default () => new Response("app");',
    });
    await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("app.tgz", archive) });
    // The request takes a standby isolate, so another one starts.
    expect(await (await fetch(`${daemon.url}/app/`)).text()).toBe("app");
    const exited = once(daemon.process, "exit");

    process.kill(-(daemon.process.pid as number), signal);

    expect(await exited).toEqual([0, null]);
    expect(daemon.output()).toContain('"stopped"');
    expect(daemon.output()).not.toContain('"level":50');
  });

  test("closes idle connections, rejects new connections and responds with NOT_READY", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const idle = await openConnection(daemon.url);
    idle.socket.write("GET /api/health/live HTTP/1.1\r\nHost: a\r\n\r\n");
    await idle.nextAnswer();
    const busy = await openConnection(daemon.url);
    busy.socket.write("GET /api/health/ready HTTP/1.1\r\nHost: a\r\n");
    const follower = await openConnection(daemon.url);
    follower.socket.write(`GET /api/events HTTP/1.1\r\nHost: a\r\nX-API-Key: ${daemon.rootKey}\r\n`);
    // A response on a later connection proves that the daemon has read the incomplete head.
    expect((await connect(daemon.url, daemon.rootKey).health.ready()).ok).toBe(true);
    const exited = once(daemon.process, "exit");
    await beginToStop(daemon);

    expect(await idle.closed()).toBe("");
    expect((await connectionRefused(daemon.url))?.code).toBe("ECONNREFUSED");
    for (const { socket, nextAnswer } of [busy, follower]) {
      socket.write("\r\n");
      const answer = await nextAnswer();
      expectRefusal(answer, "NOT_READY");
      expect(answer.headers["retry-after"]).toBe("1");
      expect(answer.text).toContain("stopping");
    }
    expect(await exited).toEqual([0, null]);
    expect(daemon.output()).toMatch(/"level":30.*"code":"NOT_READY"/);
    expect(daemon.output()).not.toContain('"level":50');
  });

  test("exits within 15 s despite idle clients and a client that stops reading", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const silent = await openConnection(daemon.url);
    const idle = await openConnection(daemon.url);
    idle.socket.write("GET /api/health/live HTTP/1.1\r\nHost: a\r\n\r\n");
    await idle.nextAnswer();
    const deaf = await openConnection(daemon.url);
    deaf.socket.write("GET /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(16));
    await deaf.nextAnswer();
    deaf.socket.pause();
    const exited = once(daemon.process, "exit");
    const startedAt = performance.now();
    await beginToStop(daemon);

    await Promise.all([silent.closed(), idle.closed()]);
    deaf.socket.destroy();

    expect(await exited).toEqual([0, null]);
    expect(performance.now() - startedAt).toBeLessThan(promptMs);
  });

  test("sends the rest of a response to a slow client before it exits", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const { socket, nextAnswer } = await openConnection(daemon.url);
    // More than the buffers of two sockets hold.
    const count = 16;
    socket.write("GET /api/docs/swagger-ui-bundle.js HTTP/1.1\r\nHost: a\r\n\r\n".repeat(count));
    const first = await nextAnswer();
    socket.pause();
    const exited = once(daemon.process, "exit");
    await beginToStop(daemon);
    expect((await connectionRefused(daemon.url))?.code).toBe("ECONNREFUSED");

    socket.resume();

    for (let answered = 1; answered < count; answered += 1) expect((await nextAnswer()).text).toBe(first.text);
    expect(await exited).toEqual([0, null]);
  });

  test.each(["SIGTERM", "SIGINT"] as const)("logs its shutdown once and exits with 0 after two %s signals", async (signal) => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    const exited = once(daemon.process, "exit");

    daemon.process.kill(signal);
    daemon.process.kill(signal);

    expect(await exited).toEqual([0, null]);
    expect(daemon.output().match(/"stopping"/g)).toHaveLength(1);
    expect(daemon.output()).toContain('"stopped"');
  });
});

test("a daemon whose port is in use exits with 1 and prints one line on stderr", async () => {
  const first = await startDaemon();
  onTestFinished(first.dispose);
  const { port } = new URL(first.url);

  const { code, stderr } = await runProgram([fileURLToPath(new URL("../../../bin/runtimed.js", import.meta.url))], {
    cwd: first.directory,
    env: { PORT: port, RUNTIME_STATE_DIR: path.join(first.directory, "other-state") },
  });

  expect(code).toBe(1);
  expect(stderr).toBe(
    `runtimed: 127.0.0.1:${port} is in use by another program; stop that program, or set PORT to another port (0 = any free port).\n`,
  );
});

const refusal = (hint: string) => expect.objectContaining({ code: "NOT_READY", message: expect.stringContaining(hint) as string });

describe("a daemon that loses a required resource", () => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await startDaemon();
    await mkdir(path.join(daemon.directory, "workers"), { recursive: true });
  });

  afterAll(() => daemon.dispose());

  const expectNotReady = async (hint: string) => {
    const { health } = connect(daemon.url, daemon.rootKey);
    await expect(health.ready()).rejects.toEqual(refusal(hint));
    await expect(health.overall()).rejects.toEqual(refusal(hint));
    expect(await health.live()).toMatchObject({ ok: true, status: "live" });
  };

  const expectReady = async () => expect((await connect(daemon.url, daemon.rootKey).health.ready()).ok).toBe(true);

  test("is live, but not ready, while the key store file is missing", async () => {
    const file = path.join(daemon.directory, "state", "keys.db");
    await rename(file, `${file}.away`);

    await expectNotReady("the file of the key store was deleted");

    await rename(`${file}.away`, file);
    await expectReady();
  });

  test("is not ready and creates no key while another process locks the key store", async () => {
    const intruder = new Database(path.join(daemon.directory, "state", "keys.db"));
    onTestFinished(() => void intruder.close());
    intruder.exec("BEGIN IMMEDIATE");

    await expectNotReady("the key store cannot be written");
    const creation = connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "too soon", role: "viewer" } });
    await expect(creation).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE", status: 503 });

    intruder.exec("ROLLBACK");
    await expectReady();
    expect(await connect(daemon.url, daemon.rootKey).keys.list()).toEqual({ keys: [] });
  });

  test("is not ready while a file replaces the worker directory", async () => {
    const directory = path.join(daemon.directory, "workers");
    await rename(directory, `${directory}.away`);
    await rename(path.join(daemon.directory, "state", "lock.db"), directory);

    await expectNotReady("no worker directory is writable");

    await rename(directory, path.join(daemon.directory, "state", "lock.db"));
    await rename(`${directory}.away`, directory);
    await expectReady();
  });
});
