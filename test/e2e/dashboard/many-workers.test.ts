import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { startDaemon } from "../../support/start-daemon.js";
import { keys } from "../../support/terminal-window.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "../cli/shell-session.js";
import { openTui } from "./dashboard-session.js";

const count = 2000;
const files = (name: string): [string, string][] => [
  [`${name}/manifest.yaml`, `name: ${name}\nversion: 1.0.0\n`],
  [`${name}/index.html`, name],
];

/** Opens the dashboard on a daemon with many workers and a built-in one. */
async function openMany() {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  const names = Array.from({ length: count }, (_, index) => `w${String(index).padStart(4, "0")}`);
  await writeTree(path.join(directory, "workers"), Object.fromEntries(names.flatMap((name) => files(name))));
  await writeTree(path.join(directory, ".shipped"), Object.fromEntries(files("aaa")));
  const dirs = [path.join(directory, ".shipped"), path.join(directory, "workers")].join(":");
  const daemon = await startDaemon({ directory, env: { RUNTIME_WORKER_DIRS: dirs } });
  const shell = await ShellSession.open();
  onTestFinished(async () => {
    await shell.close();
    await daemon.dispose();
  });
  await writeTree(shell.home, { "root.key": daemon.rootKey });
  const words = `--screen workers --url ${daemon.url} --key-file root.key`;
  const window = await openTui(shell, words, { columns: 140, rows: 45 });
  await window.waitFor("w0001");
  await window.waitFor("as root (admin)");
  return { window, daemon };
}

test("filters 2,000 workers, and keeps their list while the daemon is unreachable", async () => {
  const { window, daemon } = await openMany();
  window.press("/w1999");
  await window.waitFor(/^> w1999/m);
  window.press(keys.esc);
  expect(window.text()).not.toContain("aaa");
  window.press("bg");
  await window.waitFor(/^> aaa/m);
  await window.waitFor("cannot be changed");
  expect(await window.settledText()).not.toMatch(/d delete|e on\/off/);
  window.press("d");
  await window.waitFor("note: aaa is built in and cannot be changed");
  expect((await fetch(`${daemon.url}/aaa/`)).status).toBe(200);
  await daemon.stop();
  await window.waitFor(/unreachable for \d+ s/);
  expect(window.text()).toContain("w0001");
}, 60_000);
