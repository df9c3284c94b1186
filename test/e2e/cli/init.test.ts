import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { treeDigest } from "../../support/tree-digest.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await shell.signIn(daemon);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

describe.each(["fetch", "typescript", "static", "plugin"])("runtimectl init --template %s", (template) => {
  test("creates a valid project that `deploy` accepts unchanged", async () => {
    const init = succeeded(await shell.run(`init new-${template} --template ${template}`));
    expect(init.stderr).toContain(`runtimectl deploy new-${template}`);
    expect(succeeded(await shell.run(`validate new-${template}`)).stderr).not.toContain("warning");
    const deploy = succeeded(await shell.run(`deploy new-${template} --check /`));
    expect(deploy.stdout).toBe(`${daemon.url}/new-${template}/\n`);
    expect(await (await fetch(deploy.stdout.trim())).text()).toContain("Hello");
  });

  test("overwrites no existing file", async () => {
    const folder = path.join(shell.home, `new-${template}`);
    await rm(path.join(folder, "manifest.yaml"));
    const before = await treeDigest(folder);
    const again = await shell.run(`init new-${template} --template ${template} --json`);
    expect(again).toMatchObject({ status: 7, stdout: "" });
    expect(await treeDigest(folder)).toBe(before);
  });
});

test("runtimectl init prints a quoted deploy command for a path with spaces", async () => {
  const init = succeeded(await shell.run("init 'my projects/first worker' --name spaced --template fetch"));
  // The printed command can be pasted into a shell.
  const [, command = ""] = /runtimectl (deploy '.+')/.exec(init.stderr) ?? [];
  expect(command).toBe("deploy 'my projects/first worker'");
  succeeded(await shell.run(command.replace("deploy", "validate")));
  succeeded(await shell.run(command));
  expect(await (await fetch(`${daemon.url}/spaced/`)).text()).toContain("Hello");
});

test("runtimectl init asks for confirmation in a folder that contains other files", async () => {
  await writeTree(shell.home, { "mine/notes.txt": "mine" });
  const before = await treeDigest(path.join(shell.home, "mine"));
  const declined = await shell.runInTerminal("init mine", { input: "n\n" });
  expect(declined.status, declined.stdout).toBe(3);
  expect(await treeDigest(path.join(shell.home, "mine"))).toBe(before);
  const made = await shell.run("init mine --yes", { isTerminal: true });
  expect(made.status, made.stderr).toBe(0);
  expect(made.stdout).not.toMatch(/^mine$/m);
  expect(await readFile(path.join(shell.home, "mine/.gitignore"), "utf8")).toContain(".runtime/");
});

test("runtimectl init rejects an invalid name and writes nothing", async () => {
  expect((await shell.run("init Not..A_Näme")).status).toBe(2);
  expect((await shell.run("init fresh --name UPPER")).status).toBe(2);
  expect(await treeDigest(shell.home)).not.toContain("fresh");
  await expect(readFile(path.join(shell.home, "fresh/manifest.yaml"))).rejects.toMatchObject({ code: "ENOENT" });
});
