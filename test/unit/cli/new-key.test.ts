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

async function create(flags: readonly string[], isTerminal: boolean, expiresAt?: number) {
  const data = { ...created, key, ...(expiresAt !== undefined && { expiresAt }) };
  const daemon = await startFakeDaemon({ "/api/keys": new WireAnswer(201, JSON.stringify({ success: true, data })) });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  const env = { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key" };
  const words = ["keys", "create", "--role", "editor", "--name", "ci", "--expires", "never", "--url", daemon.url, ...flags];
  return { daemon, home, ...(await runInProcess(words, { cwd: home, env, isTerminal })) };
}

test("keys create prints commands that set shell variables for the key on a terminal", async () => {
  const { daemon, stdout, stderr } = await create([], true);

  expect(stdout).toBe(`${key}\n`);
  expect(stderr).toContain(`\nexport RUNTIMECTL_URL=${daemon.url} RUNTIMECTL_KEY=${key}\n`);
  expect(stderr).toContain("runtimectl help ci\n");
});

test("keys create prints commands with the path of the key file when --out is set", async () => {
  const { daemon, home, stderr } = await create(["--out", "ci.key"], true);

  expect(stderr).toContain(`\nexport RUNTIMECTL_URL=${daemon.url} RUNTIMECTL_KEY_FILE=${home}/ci.key\n`);
  expect(stderr).not.toContain(key);
});

test.each([
  ["1m", "1 month"],
  ["6m", "6 months"],
  ["2w", "2 weeks"],
  ["30d", "30 days"],
  ["12h", "12 hours"],
  ["1min", "1 minute"],
  ["1y", "1 year"],
])("keys create prints lifetime and expiry date with --expires %s", async (expires, lifetime) => {
  const { stderr } = await create(["--expires", expires], false, Date.parse("2100-12-27T00:00:00Z") / 1000);

  expect(stderr).toContain(`expires in ${lifetime}, on 2100-12-27\n`);
});

test.each([
  ["a pipe", [], false],
  ["a terminal with --json", ["--json"], true],
  ["a terminal with --quiet", ["--quiet"], true],
] as const)("keys create prints no commands for shell variables (destination: %s)", async (_place, flags, isTerminal) => {
  const { stdout, stderr } = await create(flags, isTerminal);

  expect(stdout).toContain(key);
  expect(stderr).not.toContain("export");
  expect(stderr).not.toContain(key);
});
