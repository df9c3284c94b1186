import { spawn } from "node:child_process";
import { readFile, readdir, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { daemonProgram, startDaemon } from "../support/start-daemon.js";
import { temporaryDirectory } from "../support/temporary-directory.js";

interface StartOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly isTerminal?: boolean;
}

/** Runs `runtimed` like a user, with only the given environment. */
function type(words: readonly string[], { cwd, env = {}, isTerminal = false }: StartOptions) {
  const line = [process.execPath, daemonProgram, ...words];
  const [file = "", ...args] = isTerminal ? ["script", "--quiet", "--return", "--flush", "--command", line.join(" "), "/dev/null"] : line;
  const child = spawn(file, args, { cwd, env: { PATH: process.env["PATH"] ?? "", PORT: "0", ...env }, stdio: ["pipe", "pipe", "pipe"] });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text: string) => (output += text));
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGTERM");
    await ended;
  });
  return { output: () => output.replaceAll("\r", ""), ended, stop: () => child.kill("SIGTERM") };
}

describe("runtimed with command-line arguments", () => {
  test.each([["--help"], ["-h"]])("prints the usage for the flag %s and starts no daemon", async (word) => {
    const cwd = await temporaryDirectory();
    const run = type([word], { cwd });
    expect(await run.ended).toBe(0);
    expect(run.output()).toMatch(/^Usage: runtimed\n/);
    expect(run.output()).toContain("\n  RUNTIME_STATE_DIR=./.runtime/state\n");
    expect(
      Math.max(
        ...run
          .output()
          .split("\n")
          .map(({ length }) => length),
      ),
    ).toBeLessThanOrEqual(110);
    expect(await readdir(cwd)).toEqual([]);
  });

  test.each([["--version"], ["-V"]])("prints the version for the flag %s and starts no daemon", async (word) => {
    const cwd = await temporaryDirectory();
    const run = type([word], { cwd });
    expect(await run.ended).toBe(0);
    expect(run.output()).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(await readdir(cwd)).toEqual([]);
  });

  test.each([[["--port", "80"]], [["start"]], [["--help", "me"]]])("rejects the arguments %j", async (words) => {
    const cwd = await temporaryDirectory();
    const run = type(words, { cwd });
    expect(await run.ended).toBe(2);
    expect(run.output()).toMatch(/^runtimed: the argument "[^"]+" is unknown; run runtimed --help for usage\.\n$/);
    expect(await readdir(cwd)).toEqual([]);
  });
});

describe("the root key when runtimed starts", () => {
  test("is created in a terminal and is still valid after a restart", async () => {
    const cwd = await temporaryDirectory();
    const run = type([], { cwd, isTerminal: true });
    await expect.poll(run.output).toContain("runtimectl deploy hello");
    // The daemon logs the entry about isolation after the other entries, but before it prints the next steps.
    const [log = "", steps] = run.output().split("Control panel");
    expect(log).toMatch(/isolation layers are (?:active|missing: )/);
    expect(steps).not.toMatch(/isolation layers are /);

    const file = path.join(cwd, ".runtime/state/root.key");
    const key = (await readFile(file, "utf8")).trim();
    expect(key).toMatch(/^[\w-]{43}$/);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect((await stat(path.dirname(file))).mode & 0o777).toBe(0o700);
    expect((await stat(path.join(cwd, ".runtime"))).mode & 0o077, "isolates with users of their own pass it").toBe(0o055);
    expect(run.output()).not.toContain(key);
    const [, panel = ""] = /Control panel +(\S+)/.exec(run.output()) ?? [];
    expect(run.output()).toContain(`runtimectl auth login --url ${new URL(panel).origin} --key-file '${file}'`);
    expect((await fetch(panel)).status).toBe(200);
    const keys = await fetch(new URL("/api/keys", panel), { headers: { "x-api-key": key } });
    expect(keys.status).toBe(200);
    // This start still counts as the start of a new installation.
    expect(await readFile(path.join(cwd, ".runtime/state/worker-network"), "utf8")).toBe("public\n");
    run.stop();
    await run.ended;

    const later = await startDaemon({ directory: cwd, env: { RUNTIME_STATE_DIR: ".runtime/state", RUNTIME_ROOT_KEY: "" } });
    onTestFinished(later.kill);
    expect((await fetch(`${later.url}/api/keys`, { headers: { "x-api-key": key } })).status).toBe(200);
    await later.stop();
    expect((await readFile(file, "utf8")).trim()).toBe(key);
  });

  test("is not created without a terminal, and the log reports that no key exists", async () => {
    const cwd = await temporaryDirectory();
    const run = type([], { cwd });
    await expect.poll(run.output).toContain("no root key and no stored key exist");
    expect(await readdir(path.join(cwd, ".runtime/state"))).not.toContain("root.key");
  });

  test("is the configured key even if the state directory contains another key", async () => {
    const daemon = await startDaemon();
    onTestFinished(daemon.dispose);
    await daemon.stop();
    await writeFile(path.join(daemon.directory, "state/root.key"), "the-key-of-the-state-directory\n");
    const again = await startDaemon({ directory: daemon.directory });
    onTestFinished(again.kill);
    const statusWith = async (key: string) => (await fetch(`${again.url}/api/keys`, { headers: { "x-api-key": key } })).status;
    expect([await statusWith(again.rootKey), await statusWith("the-key-of-the-state-directory")]).toEqual([200, 401]);
  });
});

describe("a state directory that the daemon cannot use", () => {
  test.each([
    ["a directory below /proc", async () => "/proc/self/nothing/state", "ENOENT"],
    [
      "a file instead of a directory",
      async () => {
        const file = path.join(await temporaryDirectory(), "file");
        await writeFile(file, "");
        return file;
      },
      "EEXIST",
    ],
    [
      "a directory below a file",
      async () => {
        const file = path.join(await temporaryDirectory(), "file");
        await writeFile(file, "");
        return path.join(file, "state");
      },
      "ENOTDIR",
    ],
  ])("causes exit code 78 and an error with the name RUNTIME_STATE_DIR (path: %s)", async (_, make, code) => {
    const directory = await make();
    const run = type([], { cwd: await temporaryDirectory(), env: { RUNTIME_STATE_DIR: directory, RUNTIME_ROOT_KEY: "k".repeat(32) } });
    expect(await run.ended).toBe(78);
    expect(run.output()).toContain(
      `runtimed: RUNTIME_STATE_DIR="${directory}" is not accepted: it takes a directory that runtimed can create and write to (error: ${code}).`,
    );
  });
});

test("runtimed logs a warning only for an unknown variable and a short root key", async () => {
  const env = { RUNTIME_STATE_DIRECTORY: "x", RUNTIME_ROOT_KEY: "short-key" };
  const daemon = await startDaemon({ env });
  onTestFinished(daemon.dispose);
  const output = daemon.output();
  expect(output).toContain("RUNTIME_STATE_DIRECTORY is set, but runtimed has no such variable; did you mean RUNTIME_STATE_DIR?");
  expect(output).toContain("the root key has 9 characters: use a random key of at least 32 characters");
  expect(output).not.toContain("short-key");
  expect(output.match(/runtimed has no such variable/g)).toHaveLength(1);
});
