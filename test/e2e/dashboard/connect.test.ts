import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, beforeEach, afterEach, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "../cli/shell-session.js";
import { openTui } from "./dashboard-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  daemon = await startDaemon();
});
beforeEach(async () => {
  shell = await ShellSession.open();
});
afterEach(() => shell.close());
afterAll(() => daemon?.dispose());

test("asks for URL and API key when no profile exists, hides the key and stores both", async () => {
  const window = await openTui(shell, "");
  await window.waitFor("No profiles. Press i to sign in to a daemon.");
  window.press("i");
  await window.waitFor("URL of the daemon:");
  window.press(`\u0015${daemon.url}${keys.enter}`);
  await window.waitFor(`key for ${daemon.url}:`);
  window.press(`${daemon.rootKey}${keys.enter}`);
  await window.waitFor("signed in to");
  await window.waitFor("as root (admin)");
  expect(window.written()).not.toContain(daemon.rootKey);
  window.press("q");
  await window.ended;
  expect((await shell.run("auth status --json")).status).toBe(0);
});

test("stores nothing when the daemon rejects the API key", async () => {
  const window = await openTui(shell, "");
  await window.waitFor("No profiles");
  window.press("i");
  await window.waitFor("URL of the daemon:");
  window.press(`\u0015${daemon.url}${keys.enter}`);
  await window.waitFor("key for");
  window.press(`a-wrong-key${keys.enter}`);
  await window.waitFor("failed:");
  expect(window.text()).toContain("No profiles");
  await expect(readFile(path.join(shell.home, ".config/runtimectl/credentials.json"), "utf8")).rejects.toThrow("ENOENT");
});

test("ends the session and asks for an API key when the daemon rejects the stored key", async () => {
  await writeTree(shell.home, {
    ".config/runtimectl/config.yaml": `profiles:\n  default:\n    url: ${daemon.url}\ncurrent: default\n`,
  });
  const window = await openTui(shell, "", { env: { RUNTIMECTL_KEY: "a-wrong-key" } });
  await window.waitFor("rejects the key");
  await window.waitFor("[8 Connect]");
});

test("shows that the daemon is unreachable, and when the next attempt starts", async () => {
  const window = await openTui(shell, "", { env: { RUNTIMECTL_URL: "http://127.0.0.1:1", RUNTIMECTL_KEY: "a-key" } });
  await window.waitFor(/unreachable for \d+ s · .* · cannot reach http:\/\/127\.0\.0\.1:1/);
  await window.waitFor(/next try in \d+ s/);
});

test.each([
  ["{workers.delete: e}", "the key e is assigned to both workers.toggle and workers.delete"],
  ["{workers.remove: e}", 'no action "workers.remove"'],
])("rejects conflicting or unknown key bindings (ui.keys: %s)", async (changes, message) => {
  await writeTree(shell.home, { ".config/runtimectl/config.yaml": `ui:\n  keys: ${changes}\n` });
  const window = await openTui(shell, "");
  expect(await window.ended).toBe(2);
  expect(window.text().replaceAll("\n", "")).toContain(message);
  expect(window.written()).not.toContain("\u001b[?1049h");
});

test.each(["--screen nowhere", "--refresh 10ms", "--json"])("rejects the flag %s and exits before drawing the screen", async (words) => {
  const window = await openTui(shell, words);
  expect(await window.ended).toBe(2);
  expect(window.written()).not.toContain("\u001b[?1049h");
});
