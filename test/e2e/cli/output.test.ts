import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => new Response('app') };",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
  await shell.run("workers upload app");
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const linesIn = (text: string): string[] => text.replace(/\r/g, "").trimEnd().split("\n");

const withOutput = (form: string, words: string) => shell.run(words, { env: { RUNTIMECTL_OUTPUT: form } });
const narrow = async (columns: string) =>
  linesIn((await shell.run("workers list", { env: { RUNTIMECTL_OUTPUT: "table", COLUMNS: columns } })).stdout);

const plainRow = /^app\t1\.0\.0\ton\tlive\tuploaded\t\d{4}-\d\d-\d\dT[\d:]+Z\tidle\r?\n$/;

describe("the output format of runtimectl", () => {
  test("is tab-separated in a terminal with --plain, and has column names with --header", async () => {
    expect((await shell.run("workers list --plain", { isTerminal: true })).stdout).toMatch(plainRow);
    expect((await shell.run("workers list --header")).stdout).toMatch(/^NAME\tVERSION\tSTATE\tLIVE\tSOURCE\tDEPLOYED\tHEALTH\napp\t/);
    expect((await shell.run("status --plain")).stdout).toContain(`daemon\t${daemon.url}\n`);
  });

  test("is the format in RUNTIMECTL_OUTPUT unless a flag selects another format", async () => {
    expect(JSON.parse((await withOutput("json", "workers list")).stdout)).toMatchObject({ workers: [{ name: "app" }] });
    expect((await withOutput("json", "workers list --plain")).stdout).toMatch(plainRow);
    expect((await withOutput("table", "workers list")).stdout).toMatch(
      /^NAME {2}VERSION {2}STATE {2}LIVE {2}SOURCE {4}DEPLOYED\napp {3}1\.0\.0 {4}idle {3}live {2}uploaded {2}\S.*\n$/,
    );
    const unknown = await withOutput("xml", "workers delete app --yes");
    expect(unknown).toMatchObject({ status: 2, stdout: "" });
    expect(unknown.stderr).toContain("xml is not an output format");
    expect((await fetch(`${daemon.url}/app/`)).status).toBe(200);
  });

  test("is JSON for errors too with RUNTIMECTL_OUTPUT=json, and prompts are disabled", async () => {
    const run = await shell.run("workers delete app", { env: { RUNTIMECTL_OUTPUT: "json" }, isTerminal: true });
    expect(run).toMatchObject({ status: 2, stdout: "" });
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "USAGE" } });
  });

  test("is a table without its last columns when the terminal is too narrow", async () => {
    expect(await narrow("20")).toEqual(["NAME  VERSION  STATE", expect.stringMatching(/^app {3}1\.0\.0 {4}(ok|idle)$/)]);
    expect(await narrow("3")).toEqual(["NA…", "app"]);
  });
});

describe("the runtimectl flag --json=FIELDS", () => {
  test("selects fields of each row or of the document, in the order of the flag", async () => {
    expect((await shell.run("workers list --json=source,name")).stdout).toBe('{"workers":[{"source":"uploaded","name":"app"}]}\n');
    expect((await shell.run("status --json=ready")).stdout).toBe('{"ready":true}\n');
  });

  test("rejects an unknown field before any request and lists the accepted fields", async () => {
    const run = await shell.run("workers delete app --yes --json=nam");
    expect(run).toMatchObject({ status: 2, stdout: "" });
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "USAGE", hint: "fields: name, version, deleted, error" } });
    expect((await fetch(`${daemon.url}/app/`)).status).toBe(200);
  });

  test("is rejected with --plain, and for commands that print raw output", async () => {
    expect((await shell.run("workers list --plain --json")).status).toBe(2);
    expect((await shell.run("api GET workers --json=name")).status).toBe(2);
  });

  test("does not read the next argument as FIELDS when FIELDS is omitted", async () => {
    expect(JSON.parse((await shell.run("workers enable --json app@1.0.0")).stdout)).toMatchObject({ name: "app", enabled: true });
  });
});

describe("the file in RUNTIMECTL_OUTPUT_FILE", () => {
  test("receives one line per command, without keys, and is readable only by its owner", async () => {
    const env = { RUNTIMECTL_OUTPUT_FILE: "results.ndjson" };
    await shell.run("workers list", { env });
    await shell.run("workers delete nobody --yes", { env });
    const created = await shell.run("keys create --role viewer", { env });
    expect(created.stdout).toMatch(/^rtk_/);
    const file = path.join(shell.home, "results.ndjson");
    const text = await readFile(file, "utf8");
    expect(linesIn(text).map((line) => JSON.parse(line) as unknown)).toMatchObject([
      { command: "workers list", result: { workers: [{ name: "app" }] } },
      { command: "workers delete", error: { code: "WORKER_NOT_FOUND", exitCode: 6 } },
      { command: "keys create", result: { role: "viewer", key: "[key]" } },
    ]);
    expect(text).not.toContain(created.stdout.trim());
    expect((await stat(file)).mode & 0o777).toBe(0o600);
  });

  test("causes an error before the first request when the file is not writable", async () => {
    const run = await shell.run("workers delete app --yes", { env: { RUNTIMECTL_OUTPUT_FILE: "nowhere/results" } });
    expect(run).toMatchObject({ status: 2, stdout: "" });
    expect((await fetch(`${daemon.url}/app/`)).status).toBe(200);
  });
});

describe("messages of runtimectl on stderr", () => {
  test("include requests with -v and headers with -vv, but not the key", async () => {
    const once = await shell.run("plugins list -v");
    expect(once.stderr).toMatch(/^> GET .*\n< 200 in \d+ ms, request .*\n$/);
    for (const run of [await shell.run("workers list -vv"), await shell.run("workers list", { env: { RUNTIMECTL_DEBUG: "1" } })]) {
      expect(run.stderr).toContain("> x-api-key: [hidden]\n");
      expect(run.stderr).toContain("< content-type: application/json");
      expect(run.stderr).not.toContain(daemon.rootKey);
    }
  });

  test("contain only errors with -q", async () => {
    expect(await shell.run("workers disable app@1.0.0 -q")).toMatchObject({ status: 0, stderr: "" });
    expect((await shell.run("workers enable app@1.0.0")).stderr).not.toBe("");
    expect((await shell.run("workers delete nobody --yes -q")).stderr).toContain("error:");
  });

  test("include a warning for each use of --insecure, even with -q", async () => {
    expect((await shell.run("workers list --insecure -q")).stderr).toContain("warning: --insecure");
    expect((await shell.run("workers list --insecure -q")).stderr).toContain("warning: --insecure");
  });

  test("are colored in a pipe with FORCE_COLOR, unless NO_COLOR is set", async () => {
    expect((await shell.run("wrokers", { env: { FORCE_COLOR: "1", NO_COLOR: "" } })).stderr).toContain("\u001b[31merror:");
    expect((await shell.run("wrokers", { env: { FORCE_COLOR: "1", NO_COLOR: "1" } })).stderr).not.toContain("\u001b");
    expect((await shell.run("wrokers", { env: { NO_COLOR: "" } })).stderr).not.toContain("\u001b");
  });

  test.each(["--no-input", "RUNTIMECTL_NO_INPUT"])("name the missing flag when a prompt is impossible (cause: %s)", async (how) => {
    const env: Record<string, string> = how.startsWith("-") ? {} : { [how]: "1" };
    const run = await shell.run(`workers delete app ${how.startsWith("-") ? how : ""}`, { env, isTerminal: true });
    expect(run.status).toBe(2);
    expect(run.stderr).toContain("add --yes");
  });
});

test("runtimectl hides the key when it prints an uncaught exception", async () => {
  const throwing = `const { Socket } = require("node:net");
const { write } = Socket.prototype;
Socket.prototype.write = function (chunk, ...rest) {
  if (!String(chunk).includes("HTTP/1.1")) return write.call(this, chunk, ...rest);
  setImmediate(() => { throw new Error("crashed with " + chunk); });
  return true;
};`;
  await writeTree(shell.home, { "crash.cjs": throwing });
  const env = { NODE_OPTIONS: `--require ${shell.home}/crash.cjs`, RUNTIMECTL_DEBUG: "1" };
  const words = await shell.runProgram("workers list", { env });
  const document = await shell.runProgram("workers list --json", { env: { NODE_OPTIONS: env.NODE_OPTIONS } });
  for (const run of [words, document]) {
    expect(run).toMatchObject({ status: 1, stdout: "" });
    expect(run.stderr).toContain("crashed with");
    expect(run.stderr).toContain("[key]");
    expect(run.stderr).not.toContain(daemon.rootKey);
  }
  expect(JSON.parse(document.stderr)).toMatchObject({ error: { code: "FAILED" } });
});

describe("runtimectl status --watch", () => {
  test("prints one line when the daemon stops and one line when it is ready again", async () => {
    const own = await startDaemon();
    const seen: { ready: boolean; workers?: number | null }[] = [];
    let again: Promise<TestDaemon> | undefined;
    const port = new URL(own.url).port;
    const run = await shell.runProgram(`status --watch --json --url ${own.url}`, {
      env: { RUNTIMECTL_KEY: own.rootKey },
      started: ({ stdout, pid }) => {
        stdout?.on("data", (chunk: Buffer) => {
          for (const line of linesIn(chunk.toString())) seen.push(JSON.parse(line) as (typeof seen)[number]);
          if (seen.length === 1) void own.kill();
          if (seen.length === 2) again = startDaemon({ directory: own.directory, env: { PORT: port } });
          // While the daemon starts, the command can print additional lines in which the daemon is not ready.
          if (seen.length > 2 && seen.at(-1)?.ready && pid !== undefined) process.kill(pid, "SIGINT");
        });
      },
    });
    await (await again)?.dispose();
    expect(run.status, run.stderr).toBe(130);
    const changes = seen.map(({ ready }) => ready).filter((ready, index, all) => ready !== all[index - 1]);
    expect(changes).toEqual([true, false, true]);
  }, 30_000);
});
