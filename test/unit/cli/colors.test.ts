import { expect, onTestFinished, test } from "vitest";
import { runInProcess } from "../../support/run-in-process.js";
import { startFakeDaemon } from "../../support/fake-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const green = (text: string) => `\x1b[32m${text}\x1b[0m`;
const dim = (text: string) => `\x1b[2m${text}\x1b[0m`;
const bold = (text: string) => `\x1b[1m${text}\x1b[0m`;

const worker = { name: "on", path: "/x", removable: true, source: "uploaded", versions: ["1.0.0", "0.9.0"], disabledVersions: ["0.9.0"] };

async function run(words: string, { isTerminal = true, env = {} }: { isTerminal?: boolean; env?: Record<string, string> } = {}) {
  const daemon = await startFakeDaemon({ "/api/workers": [worker] });
  onTestFinished(daemon.close);
  const home = await temporaryDirectory();
  return runInProcess([...words.split(" "), "--url", daemon.url], {
    cwd: home,
    env: { HOME: home, TMPDIR: home, RUNTIMECTL_KEY: "some-key", ...env },
    isTerminal,
  });
}

test("runtimectl colors headings and states of a list on a terminal, but not names", async () => {
  const { stdout, stderr } = await run("workers list");
  expect(stdout).toContain(`${bold("NAME")}  ${bold("VERSION")}  ${bold("STATE")}`);
  expect(stdout).toContain(`\non    1.0.0    ${green("on")} `);
  expect(stdout).toContain(`\non    0.9.0    ${dim("off")} `);
  expect(stderr).not.toContain("\x1b");
});

test("runtimectl doctor colors the result of each check", async () => {
  expect((await run("doctor")).stdout).toContain(`${green("ok")}    settings`);
});

test("runtimectl status colors the labels", async () => {
  expect((await run("status")).stdout).toContain(`${bold("daemon")} `);
});

test.each([
  ["a pipe", "workers list", { isTerminal: false }],
  ["a pipe with --json", "workers list --json", { isTerminal: false, env: { FORCE_COLOR: "1" } }],
  ["a terminal with --plain", "workers list --plain", {}],
  ["a terminal with --json", "workers list --json", {}],
  ["a terminal with NO_COLOR", "workers list", { env: { NO_COLOR: "1" } }],
  ["a terminal with --no-color", "doctor --no-color", {}],
])("runtimectl prints no color codes (destination: %s)", async (_place, words, options) => {
  const { stdout, stderr } = await run(words, options);
  expect(stdout).not.toBe("");
  expect(stdout + stderr).not.toContain("\x1b");
});
