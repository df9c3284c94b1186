import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon({ env: { RUNTIME_APP_DOMAIN: "localhost" } }), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": daemon.rootKey,
    "shop/index.html": "<title>shop</title>",
    "shop/manifest.yaml": "name: shop\nversion: 1.0.0\n",
  });
  for (const words of [`auth login --url ${daemon.url} --key-file root.key`, "workers upload shop"])
    expect(await shell.run(words)).toMatchObject({ status: 0 });
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

test("adds, lists and removes a host name, and names the command that undoes each", async () => {
  const added = await shell.run("hosts add Shop.Test. shop --version ^1");
  expect(added).toMatchObject({ status: 0 });
  expect(added.stderr).toContain("shop.test leads to shop@^1");
  expect(added.stderr).toContain("hosts remove shop.test");

  const list = await shell.run("hosts list --json");
  expect(JSON.parse(list.stdout)).toMatchObject({
    hosts: [{ host: "shop.test", worker: "shop", version: "^1", createdBy: "root" }],
    appDomain: "localhost",
  });
  expect((await shell.run("hosts list")).stdout).toMatch(/shop\.test\s+shop\s+\^1\s+added/);

  const removed = await shell.run("hosts remove shop.test --yes");
  expect(removed.stderr).toContain("hosts add shop.test shop --version ^1");
  expect(JSON.parse((await shell.run("hosts list --json")).stdout)).toMatchObject({ hosts: [] });
});

test("fails with the code of the daemon, and for an unknown host with its own", async () => {
  const refused = await shell.run("hosts add shop.localhost shop");
  expect(refused).toMatchObject({ status: 5 });
  expect(refused.stderr).toContain("RUNTIME_APP_DOMAIN");
  expect((await shell.run("hosts remove nobody.test --yes")).stderr).toContain("no worker has the host name nobody.test");
});

test("checks the name, the port and the response of a host", async () => {
  const { port } = new URL(daemon.url);
  const good = await shell.run(`hosts check shop.localhost:${port} --http`);
  expect(good, good.stdout + good.stderr).toMatchObject({ status: 0 });
  expect(good.stdout).toMatch(/ok\s+response\s+status 200/);
  const bad = await shell.run(`hosts check shop.invalid:${port} --http`);
  expect(bad).toMatchObject({ status: 1 });
  expect(bad.stdout).toContain("runtimectl hosts add shop.invalid NAME");
});
