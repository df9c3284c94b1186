import { afterAll, beforeAll, describe, expect, test } from "vitest";
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
    "my.site/index.html": "<title>my site</title>",
    "my.site/manifest.yaml": "name: my.site\nversion: 1.0.0\nhosts: [Wanted.test, granted.test]\n",
  });
  for (const words of [`auth login --url ${daemon.url} --key-file root.key`, "workers upload shop"])
    expect(await shell.run(words)).toMatchObject({ status: 0 });
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

test("runtimectl hosts adds, lists and removes a host, and prints the undo commands", async () => {
  const added = await shell.run("hosts add Shop.Test. shop --version ^1");
  expect(added).toMatchObject({ status: 0 });
  expect(added.stderr).toContain("shop.test leads to shop@^1");
  expect(added.stderr).toContain("Undo: runtimectl hosts remove shop.test");
  expect(added.stderr).not.toContain("warning:");

  const list = await shell.run("hosts list --json");
  expect(JSON.parse(list.stdout)).toMatchObject({
    hosts: [{ host: "shop.test", worker: "shop", version: "^1", createdBy: "root" }],
    appDomain: "localhost",
  });
  expect((await shell.run("hosts list")).stdout).toMatch(/shop\.test\s+shop\s+\^1\s+added/);

  const removed = await shell.run("hosts remove shop.test --yes");
  expect(removed.stderr).toContain("Undo: runtimectl hosts add shop.test shop --version ^1");
  expect(JSON.parse((await shell.run("hosts list --json")).stdout)).toMatchObject({ hosts: [] });
});

test("runtimectl hosts add explains its argument order when the worker is unknown", async () => {
  const swapped = await shell.run("hosts add shop www.example.org");
  expect(swapped).toMatchObject({ status: 0 });
  expect(swapped.stderr).toContain("warning: no worker named www.example.org is installed; the order is: runtimectl hosts add HOST WORKER");
  await shell.run("hosts remove shop --yes");
});

test.each([
  ["https://shop.example.com", "use shop.example.com"],
  ["https://shop.example.com/cart?a=1", "use shop.example.com"],
  ["shop.example.com:8443", "use shop.example.com"],
  ["a_b", "use a name such as shop.example.org"],
  ["@team/shop", "the order is: runtimectl hosts add HOST WORKER"],
])("runtimectl hosts add rejects %s with the fix as a hint", async (text, hint) => {
  const run = await shell.run(`hosts add ${text} shop`);
  expect(run).toMatchObject({ status: 2, stdout: "" });
  expect(run.stderr).toBe(`error: ${JSON.stringify(text)} is not a host name\nhint: ${hint}\n(USAGE)\n`);
  expect(JSON.parse((await shell.run("hosts list --json")).stdout)).toMatchObject({ hosts: [] });
});

test.each([
  ["42", "no enabled version of shop matches 42, so v.test responds with 404"],
  [">=1", "no enabled version of shop matches >=1, so v.test responds with 404"],
  ["1.0.0", undefined],
  ["1", undefined],
])("runtimectl hosts add --version %s warns only when no version matches", async (range, warning) => {
  const added = await shell.run(`hosts add v.test shop --version ${range}`);
  expect(added).toMatchObject({ status: 0 });
  if (warning === undefined) expect(added.stderr).not.toContain("warning:");
  else expect(added.stderr).toContain(`warning: ${warning}; for the versions: runtimectl workers show shop`);
  await shell.run("hosts remove v.test --yes");
});

test("runtimectl hosts add warns when no version of the worker is enabled", async () => {
  await shell.run("workers disable shop@1.0.0");
  expect((await shell.run("hosts add v.test shop")).stderr).toContain("warning: no version of shop is enabled");
  await shell.run("workers enable shop@1.0.0");
  await shell.run("hosts remove v.test --yes");
});

test("runtimectl hosts prints the error for a reserved host or an unknown host", async () => {
  const refused = await shell.run("hosts add shop.localhost shop");
  expect(refused).toMatchObject({ status: 5 });
  expect(refused.stderr).toContain("RUNTIME_APP_DOMAIN");
  expect((await shell.run("hosts remove nobody.test --yes")).stderr).toContain("no worker has the host name nobody.test");
});

test("runtimectl hosts check tests DNS, connection and HTTP response of a host", async () => {
  const { port } = new URL(daemon.url);
  const good = await shell.run(`hosts check shop.localhost:${port} --http`);
  expect(good, good.stdout + good.stderr).toMatchObject({ status: 0 });
  expect(good.stdout).toMatch(/ok\s+response\s+status 200/);
  const bad = await shell.run(`hosts check shop.invalid:${port} --http`);
  expect(bad).toMatchObject({ status: 1 });
  expect(bad.stdout).toContain("runtimectl hosts add shop.invalid NAME");
});

describe("runtimectl `validate`, `deploy` and `workers show`", () => {
  test("print the automatic host of a worker", async () => {
    expect((await shell.run("validate shop")).stderr).toContain("automatic host: shop below RUNTIME_APP_DOMAIN");
    expect((await shell.run("deploy shop --replace")).stderr).toMatch(/Host\s+shop\.localhost/);
    expect((await shell.run("workers show shop")).stdout).toMatch(/hosts\s+shop\.localhost/);
    const version = await shell.run("workers show shop@1.0.0 --json=automaticHost,automaticHostReason");
    expect(JSON.parse(version.stdout)).toEqual({ automaticHost: "v1-0-0---shop.localhost", automaticHostReason: null });
  });

  test("print the requested host names and the reason for a missing automatic host name", async () => {
    await shell.run("hosts add granted.test my.site");
    const reason = '"my.site" is not valid in a host name: use a-z, 0-9 and single hyphens between them';
    const validated = await shell.run("validate my.site --json");
    expect(JSON.parse(validated.stdout)).toMatchObject({
      automaticLabel: null,
      automaticLabelReason: reason,
      requestedHosts: ["wanted.test", "granted.test"],
    });
    const text = await shell.run("validate my.site");
    expect(text.stderr).toContain(`no automatic host below RUNTIME_APP_DOMAIN: ${reason}`);
    expect(text.stderr).toContain("runtimectl hosts add wanted.test my.site");

    const deployed = await shell.run("deploy my.site");
    expect(deployed.stderr).toContain(`granted.test, none: ${reason}`);
    expect(deployed.stderr).toContain("requests wanted.test, which is not added; to add it: runtimectl hosts add wanted.test my.site");
    expect(deployed.stderr).not.toContain("requests granted.test");

    const expected = { automaticHost: null, automaticHostReason: reason, hosts: ["granted.test"], requestedHosts: ["wanted.test"] };
    const shown = await shell.run("workers show my.site --json=automaticHost,automaticHostReason,hosts,requestedHosts");
    expect(JSON.parse(shown.stdout)).toEqual(expected);
    expect((await shell.run("workers show my.site")).stdout).toMatch(/requested\s+wanted\.test/);
  });
});
