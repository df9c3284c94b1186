import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemons: readonly TestDaemon[];
let shell: ShellSession;

beforeAll(async () => {
  daemons = await Promise.all([startDaemon(), startDaemon()]);
  shell = await ShellSession.open();
  await writeTree(shell.home, {
    "root.key": daemons[0]?.rootKey ?? "",
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.html": "app",
  });
  // Both daemons have the worker; the current profile is that of the first one.
  for (const [index, profile] of ["current", "prod"].entries()) {
    await shell.run(`auth login --profile ${profile} --url ${daemons[index]?.url} --key-file root.key`);
    await shell.run(`-p ${profile} workers upload app`);
  }
  await shell.run("profile use current");
});

afterAll(async () => {
  await shell.close();
  await Promise.all((daemons ?? []).map((daemon) => daemon.dispose()));
});

const statusOf = async (index: number, version: string) => (await fetch(`${daemons[index]?.url}/app@${version}/`)).status;
const statusesOfApp = () => Promise.all(daemons.map(async ({ url }) => (await fetch(`${url}/app/`)).status));

test("`deploy -p` prints an undo command with the same profile", async () => {
  await writeTree(shell.home, { "app/manifest.yaml": "name: app\nversion: 2.0.0\n" });
  const deployed = await shell.run("-p prod deploy app");
  const [, line = ""] = /^Undo: runtimectl (.+)$/m.exec(deployed.stderr) ?? [];
  expect(line).toBe("-p prod workers disable app@2.0.0");

  expect((await shell.run(line)).status).toBe(0);

  expect([await statusOf(0, "1.0.0"), await statusOf(1, "1.0.0"), await statusOf(1, "2.0.0")]).toEqual([200, 200, 404]);
  expect(await statusesOfApp()).toEqual([200, 200]);
});

test("suggested commands in --json output and hints repeat the user's connection flags", async () => {
  await writeTree(shell.home, { "app/manifest.yaml": "name: app\nversion: 3.0.0\n" });
  const { stdout } = await shell.run(`--url ${daemons[1]?.url} --key-file root.key deploy app --json`);
  expect(JSON.parse(stdout)).toMatchObject({ undo: `runtimectl --url ${daemons[1]?.url} --key-file root.key workers disable app@3.0.0` });

  const missing = await shell.run("-p prod workers show nothing");
  expect(missing.stderr).toContain("hint: runtimectl -p prod workers list");
});
