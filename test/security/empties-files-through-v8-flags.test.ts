import { spawnSync } from "node:child_process";
import { readdir, stat, truncate, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { daemonProgram, daemonUsers, startDaemon, type TestDaemon } from "../support/start-daemon.js";
import { uploadWorker } from "../support/upload-worker.js";

/** Sets the flags of the query, then runs code that V8 optimizes. */
const attacker = `
import * as fs from "node:fs";
import module, { createRequire } from "node:module";
export default { async fetch(request) {
  const query = new URL(request.url).searchParams;
  const wayIn = {
    import: async () => (await import("node:v8")).setFlagsFromString,
    default: async () => (await import("node:v8")).default.setFlagsFromString,
    require: async () => createRequire(import.meta.url)("v8").setFlagsFromString,
    builtin: async () => process.getBuiltinModule("v8").setFlagsFromString,
  }[query.get("wayIn")];
  let message = "set";
  try {
    const setFlags = await wayIn();
    for (const flag of query.getAll("flag")) setFlags(flag);
  } catch (error) {
    message = error.message;
  }
  const hot = new Function("a", "let s = 0; for (let i = 0; i < 1000; i++) s += i * a; return s");
  for (let i = 0; i < 20000; i++) hot(i);
  return new Response(message);
} };`;

const tracer = `
import traceEvents from "node:trace_events";
export default { fetch() {
  try {
    traceEvents.createTracing({ categories: ["v8", "node"] }).enable();
    return new Response("enabled");
  } catch (error) {
    return new Response(error.message);
  }
} };`;

/** A thread has its own modules, in which nothing was disabled. */
const thread = `
import { Worker } from "node:worker_threads";
export default { async fetch(request) {
  const file = new URL(request.url).searchParams.get("file");
  const code = \`
    const v8 = require("v8");
    for (const flag of ["--redirect-code-traces", "--redirect-code-traces-to=\${file}", "--trace-opt"]) v8.setFlagsFromString(flag);
    const hot = new Function("a", "let s = 0; for (let i = 0; i < 1000; i++) s += i * a; return s");
    for (let i = 0; i < 20000; i++) hot(i);
  \`;
  await new Promise((resolve) => new Worker(code, { eval: true }).once("exit", resolve));
  return new Response("done");
} };`;

const unavailable = "v8.setFlagsFromString is not available to workers.";

describe.each(daemonUsers)("a worker of a daemon that runs as the user %s", (_, user) => {
  let daemon: TestDaemon;

  beforeAll(async () => {
    daemon = await startDaemon({ ...user, env: { RUNTIME_WORKER_PERMISSIONS: "network,worker-threads" } });
    const client = connect(daemon.url, daemon.rootKey);
    await client.keys.create({ body: { name: "kept", role: "viewer" } });
    await uploadWorker(client, "attacker", { "index.js": attacker });
    await uploadWorker(client, "victim", {
      "index.js": "export default { fetch: ({ url }) => new Response(url.endsWith('/uid') ? process.getuid() : 'whole') };",
    });
    await uploadWorker(client, "tracer", { "index.js": tracer });
    await uploadWorker(client, "thread", { "index.js": thread }, "permissions: [worker-threads]");
  });
  afterAll(() => daemon.dispose());

  const attack = async (flags: readonly string[], wayIn: string): Promise<string> => {
    const query = new URLSearchParams({ wayIn });
    for (const flag of flags) query.append("flag", flag);
    return await (await fetch(`${daemon.url}/attacker/?${query.toString()}`)).text();
  };
  const targets = () => [
    path.join(daemon.directory, "state/keys.db"),
    path.join(daemon.directory, "workers/victim/1.0.0/index.js"),
    path.join(daemon.directory, "bait"),
  ];
  const sizes = () => Promise.all(targets().map(async (file) => (await stat(file)).size));

  it("has its own user ID when the daemon runs as root", async () => {
    const uid = Number(await (await fetch(`${daemon.url}/victim/uid`)).text());
    if (user.directoryMode !== undefined) expect(uid).toBeGreaterThanOrEqual(1_900_000_000);
    else expect(uid).toBe(user.uid ?? process.getuid?.());
  });

  it.each(["import", "default", "require", "builtin"])(
    "cannot truncate a file through V8 flags (access to node:v8 by %s)",
    async (wayIn) => {
      // Every user can write this file, including those of isolates.
      await writeFile(path.join(daemon.directory, "bait"), "bait", { mode: 0o666 });
      const before = await sizes();
      for (const file of targets()) {
        const flags = ["--redirect-code-traces", `--redirect-code-traces-to=${file}`, "--trace-opt"];
        expect(await attack(flags, wayIn)).toBe(unavailable);
      }
      expect(await sizes()).toEqual(before);
      expect(await (await fetch(`${daemon.url}/victim/`)).text()).toBe("whole");
    },
  );

  it("cannot create a file through V8 flags", async () => {
    const folder = path.join(daemon.directory, "workers");
    const before = await readdir(folder);
    const flags = ["--trace-turbo", `--trace-turbo-path=${folder}`, `--trace-turbo-cfg-file=${path.join(folder, "new.cfg")}`];
    expect(await attack(flags, "import")).toBe(unavailable);
    expect(await readdir(folder)).toEqual(before);
  });

  it("crashes and truncates no file when one of its threads sets a V8 flag", async () => {
    const before = await sizes();
    const response = await fetch(`${daemon.url}/thread/?file=${encodeURIComponent(targets()[0] as string)}`);
    expect([response.status, await response.json()]).toEqual([502, { error: expect.objectContaining({ code: "WORKER_CRASHED" }) }]);
    expect(await sizes()).toEqual(before);
  });

  it("cannot enable node:trace_events, which would write a file", async () => {
    const response = await fetch(`${daemon.url}/tracer/`);
    expect(await response.text()).toBe("trace_events.createTracing is not available to workers.");
  });

  it("leaves the key store readable for the next start of the daemon", async () => {
    expect(await daemon.stop()).toBe(0);
    daemon = await startDaemon({ ...user, directory: daemon.directory });
    const { keys } = await connect(daemon.url, daemon.rootKey).keys.list();
    expect(keys.map(({ name }) => name)).toEqual(["kept"]);
  });
});

describe("a key store that another program truncated to zero bytes", () => {
  let daemon: TestDaemon;
  const file = () => path.join(daemon.directory, "state/keys.db");

  beforeAll(async () => {
    daemon = await startDaemon();
    await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "kept", role: "viewer" } });
    const { size } = await stat(file());
    expect(size).toBeGreaterThan(0);
    await truncate(file(), 0);
  });
  afterAll(() => daemon.dispose());

  it("causes a failed readiness check with the reason while the daemon runs", async () => {
    const response = await fetch(`${daemon.url}/api/health/ready`);
    const { error } = (await response.json()) as { error: { code: string; message: string } };
    expect([response.status, error.code]).toEqual([503, "NOT_READY"]);
    expect(error.message).toMatch(/^The daemon is not ready: the file of the key store shrank from \d+ to 0 bytes/);
  });

  it("makes the running daemon reject new keys, but list existing keys", async () => {
    const client = connect(daemon.url, daemon.rootKey);
    await expect(client.keys.create({ body: { name: "lost", role: "viewer" } })).rejects.toMatchObject({ code: "KEY_STORE_UNAVAILABLE" });
    expect((await client.keys.list()).keys.map(({ name }) => name)).toEqual(["kept"]);
  });

  it("keeps its write-ahead log, and the next start prints instructions to restore", async () => {
    expect(await daemon.stop()).toBe(0);
    expect((await stat(file())).size).toBe(0);
    expect((await stat(`${file()}-wal`)).size).toBeGreaterThan(0);
    const { status, stderr } = spawnSync(process.execPath, [daemonProgram], {
      cwd: daemon.directory,
      env: { PORT: "0", RUNTIME_STATE_DIR: path.join(daemon.directory, "state") },
      encoding: "utf8",
      timeout: 20_000,
    });
    expect(status).toBe(1);
    expect(stderr).toContain("the file is empty");
    expect(stderr).toContain("Restore a backup with runtimectl daemon restore FILE");
    expect((await stat(file())).size).toBe(0);
  });
});
