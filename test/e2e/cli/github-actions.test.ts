import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "shop/manifest.yaml": "name: shop\nversion: 1.0.0\n",
    "shop/index.html": "hello",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

test("deploy writes a job summary, and writes url, version and digest to GITHUB_OUTPUT", async () => {
  await writeTree(shell.home, { outputs: "before=1\n", summary: "" });
  const env = { GITHUB_OUTPUT: path.join(shell.home, "outputs"), GITHUB_STEP_SUMMARY: path.join(shell.home, "summary") };
  const deployed = await shell.run("deploy shop --json", { env });
  expect(deployed, deployed.stderr).toMatchObject({ status: 0 });
  const { digest, action } = JSON.parse(deployed.stdout) as { digest: string; action: string };
  expect(await readFile(env.GITHUB_OUTPUT, "utf8")).toBe(`before=1\nurl=${daemon.url}/shop/\nversion=1.0.0\ndigest=${digest}\n`);
  expect(await readFile(env.GITHUB_STEP_SUMMARY, "utf8")).toContain(`| \`shop\` | worker | 1.0.0 | ${action} | ${daemon.url}/shop/ |`);
});

test("deploy succeeds with a warning when GITHUB_OUTPUT cannot be written", async () => {
  const deployed = await shell.run("deploy shop --replace", { env: { GITHUB_OUTPUT: "/nowhere/outputs" } });
  expect(deployed).toMatchObject({ status: 0 });
  expect(deployed.stderr).toContain("GITHUB_OUTPUT: /nowhere/outputs cannot be written: ENOENT");
});

test("keys create masks the new key in the job log before printing the key", async () => {
  const made = await shell.run("keys create --preset viewer --json", { env: { GITHUB_ACTIONS: "true" } });
  const { key } = JSON.parse(made.stdout) as { key: string };
  expect(made.stderr.split("\n")[0]).toBe(`::add-mask::${key}`);
});
