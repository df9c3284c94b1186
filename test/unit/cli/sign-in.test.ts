import { readFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon, WireAnswer } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

interface Options {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  readonly accepts?: boolean;
}

/** Runs the words against a daemon that accepts every key, or none. */
async function run(words: string, { env = {}, input = "", accepts = true }: Options = {}) {
  const rejection = WireAnswer.refusal(401, "AUTH_REQUIRED", "send it as X-API-Key");
  const daemon = await startFakeDaemon(accepts ? {} : { "/api/admin/session": rejection, "/api/workers": rejection });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  await writeTree(home, { "some.key": "key-in-file" });
  const ran = await runInProcess([...words.split(" "), "--url", daemon.url], {
    cwd: home,
    env: { HOME: home, TMPDIR: home, ...env },
    input,
  });
  const credentials = await readFile(path.join(home, ".config/runtimectl/credentials.json"), "utf8").catch(() => undefined);
  return { ...ran, credentials };
}

describe("`auth login` with a key in the environment", () => {
  test.each([
    ["RUNTIMECTL_KEY", "key-in-variable", "printenv RUNTIMECTL_KEY | runtimectl "],
    ["RUNTIMECTL_KEY_FILE", "some.key", '--key-file "$RUNTIMECTL_KEY_FILE"'],
  ])("stores nothing, and prints how to store the key of the variable %s", async (variable, value, way) => {
    const { status, stderr, credentials } = await run("auth login", { env: { [variable]: value, CI: "true" } });

    expect({ status, credentials }).toEqual({ status: 2, credentials: undefined });
    expect(stderr).toContain(`error: no key was stored: ${variable} is set`);
    expect(stderr).toContain(way);
  });

  test("stores the key if a flag provides it", async () => {
    const env = { RUNTIMECTL_KEY: "key-in-variable" };

    expect((await run("auth login --key-stdin", { env, input: "key-in-pipe\n" })).credentials).toContain("key-in-pipe");
    expect((await run("auth login --key-file some.key", { env })).credentials).toContain("key-in-file");
  });

  test("sends the key to the daemon with --store none, but does not store the key", async () => {
    const { status, stderr, credentials } = await run("auth login --store none", { env: { RUNTIMECTL_KEY: "key-in-variable" } });

    expect({ status, credentials }).toEqual({ status: 0, credentials: undefined });
    expect(stderr).toContain("the key was not stored");
  });
});

describe("a key that the daemon rejects", () => {
  test.each([
    ["auth login --store none", "RUNTIMECTL_KEY", "hint: unset RUNTIMECTL_KEY, or set it to a key of this daemon\n"],
    ["workers list", "RUNTIMECTL_KEY", "hint: unset RUNTIMECTL_KEY, or set it to a key of this daemon\n"],
  ])("causes an error that names the variable that contains the key (command: %s)", async (words, variable, hint) => {
    const { status, stderr } = await run(words, { env: { [variable]: "wrong" }, accepts: false });

    expect(status).toBe(4);
    expect(stderr).toMatch(/^error: http:\/\/127\.0\.0\.1:\d+ rejects the key from RUNTIMECTL_KEY: it is unknown, expired or revoked$/m);
    expect(stderr).toContain(hint);
    expect(stderr).not.toContain("X-API-Key");
  });

  test.each([
    ["auth login --key-stdin", "standard input"],
    ["auth login --key-file some.key", "--key-file"],
  ])("causes an error without a hint to sign in (command: %s)", async (words, source) => {
    const { status, stderr, credentials } = await run(words, { input: "wrong\n", accepts: false });

    expect({ status, credentials }).toEqual({ status: 4, credentials: undefined });
    expect(stderr).toContain(`rejects the key from ${source}`);
    expect(stderr).not.toContain("auth login");
  });
});
