import { readFileSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { childProcessesOf, spawnedBy } from "../support/child-processes.js";
import { IsolationHarness, rootKeyMarker, type Offender } from "../support/isolation-harness.js";

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

const head = `import fs from "node:fs"; import path from "node:path"; import { createRequire } from "node:module"; const require = createRequire(import.meta.url);
  const attempt = (what) => { try { const value = what(); return "got " + String(value).slice(0, 50); } catch (error) { return error.code ?? error.name; } };
  const outcomes = (...all) => new Response([...new Set(all.map(attempt))].join());`;
const denied = "200 ERR_ACCESS_DENIED";
const daemonFiles = (files: string) =>
  `const daemon = "/proc/" + process.ppid; return outcomes(...${files}.map((file) => () => fs.readFileSync(file, "latin1")));`;

/** Attempts to access resources outside of the app. */
const offenders: Offender[] = [
  {
    name: "by /proc to its own process and the daemon",
    source: daemonFiles(
      `[..."environ mem maps cmdline fd/0 root/etc/passwd cwd/state".split(" ").flatMap((file) => [daemon + "/" + file, "/proc/self/" + file]), "/proc/1/environ", "/proc/self/task/" + process.pid + "/environ"]`,
    ),
    expected: denied,
  },
  {
    name: "to files of the machine, the daemon and other workers",
    // The sandbox folder, the third argument, contains links to its own files.
    source: daemonFiles("(await request.json()).filter((file) => !file.startsWith(process.argv[2] + '/'))"),
    strike: async (url) => post(url, await secretFiles()),
    expected: denied,
  },
  {
    name: "to the same files by paths through its own folder",
    source: `const here = import.meta.dirname; const ups = Array.from({ length: 12 }, (_, index) => here + "/" + "../".repeat(index + 1));
      return outcomes(...ups.flatMap((up) => ["etc/passwd", "state/keys.db", "workers", "neighbor", "proc/self/environ"].map((end) => () => fs.readFileSync(up + end))));`,
    expected: [denied, "200 ERR_ACCESS_DENIED,ENOENT", "200 ENOENT,ERR_ACCESS_DENIED"],
  },
  {
    name: "to write files in its own folder and elsewhere",
    source: `const here = import.meta.dirname; return outcomes(...[here + "/index.js", here + "/new", here + "/../new", "/tmp/new", "/dev/shm/new"].flatMap((file) => [() => fs.writeFileSync(file, "x"), () => fs.mkdirSync(file + "d"), () => fs.symlinkSync("/etc", file + "l"), () => fs.rmSync(file), () => fs.truncateSync(file)]));`,
    expected: [denied, "200 ERR_ACCESS_DENIED,ENOENT"],
  },
  {
    name: "to programs, threads and the inspector",
    source: `return outcomes(() => require("child_process").execSync("id"), () => require("child_process").spawn("id").pid, () => require("child_process").fork("x").pid, () => new (require("worker_threads").Worker)("1", { eval: true }).threadId, () => require("inspector").open(0), () => new (require("wasi").WASI)({ version: "preview1" }));`,
    expected: denied,
  },
  {
    name: "to addons and internal bindings",
    source: `return outcomes(() => process.dlopen({ exports: {} }, "/usr/lib/x86_64-linux-gnu/libc.so.6"), () => process.binding("fs"), () => process._linkedBinding("x"), () => process.report.writeReport("x"), () => process.report.getReport().environmentVariables.PATH);`,
    expected: "200 TypeError",
  },
  {
    name: "to a native addon by require",
    source: `return outcomes(() => require("./addon.node"), () => require("/usr/lib/addon.node"));`,
    expected: ["200 ERR_DLOPEN_DISABLED", "200 MODULE_NOT_FOUND", denied, "200 MODULE_NOT_FOUND,ERR_ACCESS_DENIED"],
  },
  {
    name: "to environment, arguments and Node.js internals",
    source: `const seen = JSON.stringify([process.env, env, process.argv, process.execArgv, process.title, process.config.variables ? 1 : 0, require("os").hostname ? 1 : 0]); return new Response(seen.includes("MARKER") || seen.includes("RUNTIME_") ? "leaked " + seen : "nothing");`,
    expected: "200 nothing",
  },
  {
    name: "to daemon paths by an error stack",
    source: `throw new Error("at " + import.meta.url + " " + JSON.stringify(process.argv));`,
    expected: "502 WORKER_BAD_RESPONSE",
  },
  {
    name: "to the API of the daemon without a key",
    source: `const base = "http://" + request.headers.get("x-forwarded-host") + "/api"; const answers = await Promise.all(["/keys", "/workers", "/metrics"].map((path) => fetch(base + path, { headers: { ...Object.fromEntries(request.headers), "x-runtime-internal": "true" } }))); return new Response([...new Set(answers.map((answer) => answer.status))].join());`,
    // The client's key must not reach the app.
    strike: (url) =>
      post(url, [], { "x-api-key": rootKeyMarker, authorization: `Bearer ${rootKeyMarker}`, cookie: `runtime_api_key=${rootKeyMarker}` }),
    expected: "200 401",
  },
];

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that accesses resources of the daemon or of other workers", { timeout: 90_000 }, () => {
  test.each(offenders)("fails, and other workers continue to serve (access $name)", (offender) => harness.check({ head, ...offender }));

  test("does not find the root key in environments, arguments, logs or files", async () => {
    const { name } = await harness.add({ head, source: "" });
    const { pid } = harness.daemon.process;
    await (await fetch(`${harness.daemon.url}/${name}/ok`)).text();
    const isolates = spawnedBy(pid as number);
    expect(isolates.length).toBeGreaterThan(1);
    for (const isolate of [...childProcessesOf(pid as number), ...isolates]) {
      for (const file of ["environ", "cmdline", "status"])
        expect(readFileSync(`/proc/${isolate}/${file}`, "latin1"), file).not.toContain("MARKER");
    }
    expect(harness.daemon.output()).not.toContain("MARKER");
    for (const file of await filesBelow(harness.daemon.directory))
      expect(await readFile(file, "latin1"), file).not.toContain(rootKeyMarker);
    await harness.client.workers.remove({ params: { scope: "_", name } });
  });
});

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<string> {
  const answer = await fetch(`${url}/bad`, { method: "POST", body: JSON.stringify(body), headers });
  const text = await answer.text();
  expect(text).not.toContain(rootKeyMarker);
  return `${answer.status} ${/"code":"(\w+)"/.exec(text)?.[1] ?? text}`;
}

/** Returns the files of the daemon and of the other worker, the daemon's program, and two files of the machine. */
async function secretFiles(): Promise<string[]> {
  const program = path.resolve("dist/server/main.js");
  return [
    ...(await filesBelow(harness.daemon.directory)).filter((file) => !file.includes("offender")),
    program,
    "/etc/passwd",
    "/etc/hostname",
  ];
}

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map((entry) => path.join(entry.parentPath, entry.name));
}
