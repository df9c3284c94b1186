import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon, WireAnswer } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const key = `rtk_${"x".repeat(43)}`;
const created = {
  id: 3,
  name: "ci",
  keyPrefix: "rtk_xxxxxxxx",
  role: "editor",
  permissions: ["workers:read"],
  namespaces: ["*"],
  createdAt: 1_700_000_000,
};

async function create(flags: readonly string[], isTerminal: boolean) {
  const daemon = await startFakeDaemon({ "/api/keys": new WireAnswer(201, JSON.stringify({ success: true, data: { ...created, key } })) });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const words = ["keys", "create", "--role", "editor", "--name", "ci", "--expires", "never", "--url", daemon.url, ...flags];
  return { daemon, home, ...(await runInProcess(words, { cwd: home, env, isTerminal })) };
}

test("prints shell variables for a new key on a terminal", async () => {
  const { daemon, stdout, stderr } = await create([], true);

  expect(stdout).toBe(`${key}\n`);
  expect(stderr).toContain(`\nexport RUNTIMECTL_URL=${daemon.url} RUNTIMECTL_KEY=${key}\n`);
  expect(stderr).toContain("runtimectl help ci\n");
});

test("prints the path of the key file in the shell variables with --out", async () => {
  const { daemon, home, stderr } = await create(["--out", "ci.key"], true);

  expect(stderr).toContain(`\nexport RUNTIMECTL_URL=${daemon.url} RUNTIMECTL_KEY_FILE=${home}/ci.key\n`);
  expect(stderr).not.toContain(key);
});

test.each([
  ["a pipe", [], false],
  ["a terminal with --json", ["--json"], true],
  ["a terminal with --quiet", ["--quiet"], true],
] as const)("prints no shell variables (destination: %s)", async (_place, flags, isTerminal) => {
  const { stdout, stderr } = await create(flags, isTerminal);

  expect(stdout).toContain(key);
  expect(stderr).not.toContain("export");
  expect(stderr).not.toContain(key);
});
