import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { treeDigest } from "../../support/tree-digest.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;
const configFile = () => path.join(shell.home, ".config/runtimectl/config.yaml");

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "app/manifest.yaml": "name: app\nversion: 1.0.0\n",
    "app/index.js": "export default { fetch: () => new Response('app') };",
    "guard/manifest.yaml": "name: guard\nversion: 1.0.0\n",
    "guard/plugin.js": "export default {};",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
  await shell.run("workers upload app");
  await shell.run("plugins upload guard");
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

test("`profile add` prints whether it added or changed the profile", async () => {
  const added = await shell.run("profile add twice --url http://127.0.0.1:1");
  expect(added.stderr).toContain("added profile twice in ");
  const changed = await shell.run("profile add twice --url http://127.0.0.1:2");
  expect(changed.stderr).toContain("changed the existing profile twice in ");
  expect(changed.stderr).toContain("its URL was http://127.0.0.1:1");
  await shell.run("profile rm twice --yes");
});

test("a command without a key prints the sign-in command for the selected profile", async () => {
  await shell.run(`profile add ada --url ${daemon.url}`);
  expect((await shell.run("status -p ada")).stdout).toContain("no; to sign in: runtimectl auth login -p ada\n");
  expect((await shell.run("workers list -p ada")).stderr).toContain("hint: runtimectl auth login -p ada, or set RUNTIMECTL_KEY_FILE");
  await shell.run("profile rm ada --yes");
});

test("`profile set` changes only the settings that its flags specify", async () => {
  await shell.run("profile add spare --url http://127.0.0.1:1 --production");
  expect((await shell.run("profile set spare --readonly")).status).toBe(0);
  expect(JSON.parse((await shell.run("profile show spare --json")).stdout)).toEqual({
    name: "spare",
    url: "http://127.0.0.1:1",
    production: true,
    readonly: true,
    current: false,
    hasKey: false,
  });
  await shell.run("profile set spare --no-production --url http://127.0.0.1:2");
  expect((await shell.run("profile show spare --plain")).stdout).toBe(
    "profile\tspare\ndaemon\thttp://127.0.0.1:2\nauthorities\tdefault\nproduction\tno\nread-only\tyes\nkey\tnone\n",
  );
  expect((await shell.run("profile show")).stdout).toContain("default (current)");
});

test("`profile set` changes nothing for an unknown profile or invalid setting", async () => {
  const before = await readFile(configFile(), "utf8");
  expect((await shell.run("profile set default")).status).toBe(2);
  expect((await shell.run("profile set nobody --readonly")).status).toBe(6);
  expect((await shell.run("profile set default --url ftp://x")).status).toBe(2);
  expect(await readFile(configFile(), "utf8")).toBe(before);
});

test("a read-only profile rejects commands that change data and permits other commands", async () => {
  await shell.run("profile set default --readonly");
  const before = [await treeDigest(`${daemon.directory}/workers`), await treeDigest(`${daemon.directory}/plugins`)];
  const changes = [
    "workers upload app",
    "workers disable app@1.0.0",
    "workers enable app@1.0.0",
    "workers delete app --yes",
    "workers restart app",
    "plugins upload guard",
    "plugins disable guard",
    "plugins enable guard",
    "plugins reload",
    "plugins delete guard --yes",
    "keys create --role viewer",
    "keys revoke 1 --yes",
    "api POST plugins/reload",
    "api DELETE workers/_/app",
  ];
  for (const words of changes) {
    const run = await shell.run(`${words} --json`);
    expect(run, `${words}: ${run.stderr}`).toMatchObject({ status: 5, stdout: "" });
    expect(JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({
      error: { code: "PROFILE_READ_ONLY", message: "profile default is read-only; nothing was changed" },
    });
  }
  for (const words of ["workers list", "plugins list", "keys list", "status", "auth status", "workers upload app --dry-run"])
    expect((await shell.run(words)).status, words).toBe(0);
  expect([await treeDigest(`${daemon.directory}/workers`), await treeDigest(`${daemon.directory}/plugins`)]).toEqual(before);
  expect((await shell.run("keys list")).stdout).toBe("");
  await shell.run("profile set default --no-readonly");
  expect((await shell.run("workers disable app@1.0.0")).status).toBe(0);
}, 30_000);

test("`auth login --store none` sends the key to the daemon but does not store it", async () => {
  const env = { RUNTIMECTL_CONFIG_DIR: path.join(shell.home, "nothing") };
  const good = await shell.run(`auth login --store none --url ${daemon.url} --key-file root.key --json`, { env });
  expect(JSON.parse(good.stdout)).toMatchObject({ profile: null, store: null, principal: { name: "root" } });
  await expect(readFile(env.RUNTIMECTL_CONFIG_DIR, "utf8")).rejects.toMatchObject({ code: "ENOENT" });
  await writeTree(shell.home, { "wrong.key": "wrong" });
  expect((await shell.run(`auth login --store none --url ${daemon.url} --key-file wrong.key`, { env })).status).toBe(4);
});
