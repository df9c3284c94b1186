import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { treeDigest } from "../../support/tree-digest.js";
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

describe.each(["fetch", "static", "plugin"])("a project of the template %s", (template) => {
  test("is made, is valid and is deployed as it is", async () => {
    const init = succeeded(await shell.run(`init new-${template} --template ${template}`));
    expect(init.stderr).toContain(`runtimectl deploy new-${template}`);
    expect(succeeded(await shell.run(`validate new-${template}`)).stderr).toBe("");
    const deploy = succeeded(await shell.run(`deploy new-${template} --check /`));
    expect(deploy.stdout).toBe(`${daemon.url}/new-${template}/\n`);
    expect(await (await fetch(deploy.stdout.trim())).text()).toContain("Hello");
  });

  test("is not written over anything", async () => {
    const folder = path.join(shell.home, `new-${template}`);
    await rm(path.join(folder, "manifest.yaml"));
    const before = await treeDigest(folder);
    const again = await shell.run(`init new-${template} --template ${template} --json`);
    expect(again).toMatchObject({ status: 7, stdout: "" });
    expect(await treeDigest(folder)).toBe(before);
  });
});

test("init: a name that cannot be one is refused, and nothing is written", async () => {
  expect((await shell.run("init Not..A_Näme")).status).toBe(2);
  expect((await shell.run("init fresh --name UPPER")).status).toBe(2);
  expect(await treeDigest(shell.home)).not.toContain("fresh");
  await expect(readFile(path.join(shell.home, "fresh/manifest.yaml"))).rejects.toMatchObject({ code: "ENOENT" });
});
