import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { version } from "../../../src/cli/version.js";
import { runInProcess, type InProcessOptions, type InProcessRun } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

/** Runs the words with a new home folder as the only environment. */
async function run(words: string, options: Partial<InProcessOptions> = {}): Promise<InProcessRun> {
  const home = options.cwd ?? (await temporaryDirectory());
  return runInProcess(words.split(" "), { cwd: home, ...options, env: { HOME: home, TMPDIR: home, ...options.env } });
}

test("runtimectl exits with 2 for an unknown command and names the nearest command", async () => {
  expect(await run("wrokers")).toEqual({
    status: 2,
    stdout: "",
    stderr: "error: there is no command wrokers\nhint: did you mean: runtimectl workers\n(USAGE)\n",
  });
});

test.each([
  ["deploy --all", "for folder in apps/*/"],
  ["workers logs shop --tail 5", "runtimectl workers logs <name> --limit <count>"],
  ["keys revoke 1 --force", "--yes"],
  ["keys revoke 1 -f", "--yes"],
  ["events -f", "remove -f: events streams new events until Ctrl-C"],
  ["keys revoke 1 --constructor", "runtimectl keys revoke --help"],
])("runtimectl suggests a similar option for an unknown option (command: %s)", async (words, hint) => {
  const result = await run(words);
  expect(result.status).toBe(2);
  expect(result.stderr).toContain(hint);
});

test.each([
  ["lgos", "did you mean: runtimectl logs"],
  ["restrat", "did you mean: runtimectl restart"],
  ["key delte 4", "did you mean: runtimectl keys delete"],
  ["run", "runtimectl dev DIR"],
  ["files cat", "runtimectl files get REMOTE -"],
  ["logs app -n 5", "runtimectl workers logs <name> --limit <count>"],
  ["upgrade", "npm install --global ./runtimectl-VERSION.tgz"],
  ["update", "npm install --global ./runtimectl-VERSION.tgz"],
])("runtimectl suggests a similar command for an unknown command (command: %s)", async (words, hint) => {
  const result = await run(words);
  expect(result.status).toBe(2);
  expect(result.stderr).toContain(`hint: ${hint}`);
});

test("--version prints the version", async () => {
  expect(await run("--version")).toEqual({ status: 0, stdout: `${version}\n`, stderr: "" });
});

test.each(["--help", "workers", "workers list --help"])("runtimectl prints help for the arguments %s", async (words) => {
  const { status, stdout, stderr } = await run(words);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("runtimectl workers");
});

test("runtimectl prints an error with --json as one JSON document on stderr", async () => {
  const { status, stdout, stderr } = await run("validate missing --json");
  expect({ status, stdout }).toEqual({ status: 6, stdout: "" });
  expect(JSON.parse(stderr)).toMatchObject({ error: { code: "PATH_NOT_FOUND", exitCode: 6 } });
});

test("runtimectl exits with 130 and closes the connection when its AbortSignal aborts", async () => {
  const interruption = new AbortController();
  const closed = Promise.withResolvers<void>();
  // Never responds.
  const server = createServer(({ socket }) => {
    socket.once("close", closed.resolve);
    interruption.abort();
  }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const { status, stdout, stderr } = await run(`status --url ${url}`, { signal: interruption.signal });

  expect({ status, stdout }).toEqual({ status: 130, stdout: "" });
  expect(stderr).toBe("error: the command was interrupted\n(INTERRUPTED)\n");
  await closed.promise;
});

test("runtimectl exits with 130 when its AbortSignal is aborted before the start", async () => {
  expect(await run("status --url http://127.0.0.1:1", { signal: AbortSignal.abort() })).toMatchObject({ status: 130, stdout: "" });
});

test.each([
  ["HOME", ".config/runtimectl", (home: string) => ({ HOME: home })],
  ["XDG_CONFIG_HOME", "xdg/runtimectl", (home: string) => ({ XDG_CONFIG_HOME: path.join(home, "xdg") })],
  ["RUNTIMECTL_CONFIG_DIR", "own", (home: string) => ({ RUNTIMECTL_CONFIG_DIR: path.join(home, "own") })],
] as const)("runtimectl reads profiles from the config folder in the variable %s", async (_name, folder, env) => {
  const home = await temporaryDirectory();
  await writeTree(home, { [`${folder}/config.yaml`]: "profiles:\n  found:\n    url: https://found.example\n" });

  expect(await run("profile list", { cwd: home, env: env(home) })).toMatchObject({ status: 0, stdout: expect.stringContaining("found") });
});

test("runtimectl reads a project file and a key file from the working directory", async () => {
  const home = await temporaryDirectory();
  await writeTree(home, { "project/.runtimectl.yaml": "profile: missing\n", "empty.key": "" });

  expect((await run("auth status", { cwd: path.join(home, "project") })).stderr).toContain("there is no profile missing");
  expect((await run("auth status --key-file empty.key", { cwd: home })).stderr).toContain(`${home}/empty.key does not contain a key`);
});

test("runtimectl reads a key from stdin with --key-stdin", async () => {
  const { status, stderr } = await run("auth login --key-stdin", { input: "two words\n" });
  expect(status).toBe(2);
  expect(stderr).toContain("standard input does not contain a key");
});

test("runtimectl colors errors only on a terminal", async () => {
  expect((await run("wrokers", { isTerminal: true })).stderr).toContain("\u001b[31merror:");
  expect((await run("wrokers")).stderr).not.toContain("\u001b");
});

const countListeners = () => process.eventNames().reduce((sum, name) => sum + process.listenerCount(name), 0);

test("runtimectl leaves no listeners on `process` and does not set process.exitCode", async () => {
  await run("workers list --url http://127.0.0.1:1");
  const before = countListeners();
  for (let index = 0; index < 12; index += 1) await run("workers list --url http://127.0.0.1:1");
  expect(countListeners()).toBe(before);
  expect(process.exitCode).toBeUndefined();
});
