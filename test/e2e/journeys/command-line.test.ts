import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmod, readFile, stat } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "../cli/shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": `${daemon.rootKey}\n`,
    "app/manifest.yaml": 'name: "@team/app"\nversion: 1.2.0\n',
    "app/index.js": 'export default { fetch: () => new Response("first") };\n',
    "app/.env": "SECRET=1\n",
  });
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

test("runtimectl signs in, shows the status, switches profiles and signs out", async () => {
  const login = succeeded(await shell.runProgram(`auth login --url ${daemon.url} --key-stdin`, { input: `${daemon.rootKey}\n` }));
  expect(login.stderr).toContain(`signed in to ${daemon.url} as root (admin)`);
  const credentials = path.join(shell.home, ".config/runtimectl/credentials.json");
  expect((await stat(credentials)).mode & 0o777).toBe(0o600);
  expect(await readFile(path.join(shell.home, ".config/runtimectl/config.yaml"), "utf8")).not.toContain(daemon.rootKey);

  const status = JSON.parse(succeeded(await shell.runProgram("auth status --json")).stdout) as object;
  expect(status).toMatchObject({
    profile: { name: "default" },
    url: { value: daemon.url },
    key: { source: credentials },
    principal: { name: "root" },
  });

  succeeded(await shell.runProgram(`profile add prod --url ${daemon.url} --production`));
  succeeded(await shell.runProgram("auth login --profile prod --key-file root.key"));
  expect((await shell.runProgram("profile list")).stdout).toBe(
    `\tdefault\t${daemon.url}\tstored\t\n*\tprod\t${daemon.url}\tstored\tPRODUCTION\n`,
  );
  succeeded(await shell.runProgram("profile use default"));
  succeeded(await shell.runProgram("auth logout --profile prod"));
  expect((await shell.runProgram("workers list --profile prod")).status).toBe(4);
  succeeded(await shell.runProgram("profile rm prod"));
  expect((await shell.runProgram("profile use prod --json")).status).toBe(6);
  expect(await readFile(credentials, "utf8")).not.toContain("prod");
});

test("runtimectl does not store a key or profile when the daemon rejects the key", async () => {
  const before = await readFile(path.join(shell.home, ".config/runtimectl/credentials.json"), "utf8");
  const login = await shell.run(`auth login --profile wrong --url ${daemon.url} --key-stdin`, { input: "not-the-key" });
  expect(login.status).toBe(4);
  expect(await readFile(path.join(shell.home, ".config/runtimectl/credentials.json"), "utf8")).toBe(before);
  expect((await shell.run("profile list")).stdout).not.toContain("wrong");
});

test("runtimectl uploads, disables, enables, replaces and deletes a worker", async () => {
  const dryRun = succeeded(await shell.runProgram("workers upload app --dry-run"));
  expect(dryRun.stdout.split("\n").map((line) => line.split("\t")[2])).toEqual(["index.js", "manifest.yaml", ".env", undefined]);
  expect((await shell.runProgram("workers list")).stdout).not.toContain("@team/app");

  const upload = succeeded(await shell.runProgram("workers upload app"));
  expect(upload.stdout).toBe(`${daemon.url}/@team/app/\n`);
  expect(await (await fetch(upload.stdout.trim())).text()).toBe("first");
  expect((await shell.runProgram("workers list")).stdout).toContain("@team/app\t1.2.0\ton\tlive\tuploaded\t");

  succeeded(await shell.runProgram("workers disable @team/app@1.2.0"));
  expect((await fetch(upload.stdout.trim())).status).toBe(404);
  succeeded(await shell.runProgram("workers enable @team/app@1.2.0"));

  await writeTree(shell.home, { "app/index.js": 'export default { fetch: () => new Response("second") };\n' });
  const again = JSON.parse(succeeded(await shell.runProgram("workers upload app --json")).stdout) as { url: string };
  expect(again).toMatchObject({
    name: "@team/app",
    version: "1.2.0",
    sizeBytes: expect.any(Number) as number,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect(await (await fetch(again.url)).text()).toBe("second");

  expect((await shell.runProgram("workers delete @team/app")).status).toBe(2);
  expect((await fetch(again.url)).status).toBe(200);
  succeeded(await shell.runProgram("workers delete @team/app@1.2.0 --yes"));
  expect((await fetch(again.url)).status).toBe(404);
  expect((await shell.runProgram("workers delete @team/app --yes")).status).toBe(6);
});

test("runtimectl uploads an older version and prints the URL of that version", async () => {
  await writeTree(shell.home, {
    "new/manifest.yaml": "name: two\nversion: 2.0.0\n",
    "new/index.js": 'export default { fetch: () => new Response("2") };',
    "old/manifest.yaml": "name: two\nversion: 1.9.0\n",
    "old/index.js": 'export default { fetch: () => new Response("1") };',
  });
  succeeded(await shell.run("workers upload new"));
  const old = succeeded(await shell.run("workers upload old"));
  expect(old.stdout).toBe(`${daemon.url}/two@1.9.0/\n`);
  expect(old.stderr).toContain(`2.0.0 is the active version at ${daemon.url}/two/`);
  expect(await (await fetch(old.stdout.trim())).text()).toBe("1");
});

test("runtimectl uploads an existing archive unchanged", async () => {
  execFileSync("tar", ["czf", path.join(shell.home, "ready.tgz"), "-C", path.join(shell.home, "app"), "index.js", "manifest.yaml"]);
  const upload = JSON.parse(succeeded(await shell.run("workers upload ready.tgz --json")).stdout) as { sha256: string };
  expect(upload.sha256).toBe(
    createHash("sha256")
      .update(await readFile(path.join(shell.home, "ready.tgz")))
      .digest("hex"),
  );
  succeeded(await shell.run("workers delete @team/app --yes"));
});

test("runtimectl creates, uses, lists and revokes a key with a role", async () => {
  const created = succeeded(await shell.run("keys create --role editor"));
  expect(created.stdout).toMatch(/^rtk_[\w-]{43}\n$/);
  expect(created.stderr).toMatch(/key \d+: editor .+, namespaces \*, expires in 90 days, on \d{4}-\d\d-\d\d\n/);
  expect(created.stderr).not.toContain(created.stdout.trim());
  const [id] = /(?<=key )\d+/.exec(created.stderr) ?? [];

  const env = { RUNTIMECTL_KEY: created.stdout.trim() };
  expect((await shell.run("keys list", { env })).status).toBe(5);
  succeeded(await shell.run("workers upload app", { env }));
  expect((await shell.run("keys list")).stdout).toContain(`${id}\teditor `);

  const restricted = JSON.parse(
    succeeded(
      await shell.run(
        "keys create --permission workers:read --permission workers:install --namespace @other --expires 1y -o ci.key --json",
      ),
    ).stdout,
  ) as object;
  expect(restricted).toMatchObject({ role: "custom", namespaces: ["@other"], keyFile: path.join(shell.home, "ci.key") });
  expect(restricted).not.toHaveProperty("key");
  expect((await stat(path.join(shell.home, "ci.key"))).mode & 0o777).toBe(0o600);
  expect((await shell.run("workers upload app --key-file ci.key --json")).stderr).toContain('"code":"NAMESPACE_DENIED"');
  const taken = await shell.run("keys create --role viewer -o ci.key");
  expect(taken.status).toBe(2);

  succeeded(await shell.run(`keys revoke ${id} --yes`));
  expect((await shell.run("workers list", { env })).status).toBe(4);
  expect((await shell.run(`keys revoke ${id} --yes`)).status).toBe(6);
});

test("runtimectl exits with 7 when the user tries to revoke the key in use", async () => {
  const created = JSON.parse((await shell.run("keys create --role admin --json")).stdout) as { id: number; key: string };
  const run = await shell.run(`keys revoke ${created.id} --yes --json`, { env: { RUNTIMECTL_KEY: created.key } });
  expect(run).toMatchObject({ status: 7, stdout: "" });
  expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "KEY_SELF_REVOKE_FORBIDDEN" } });
});

test("runtimectl api sends any API call with the key and an Origin header", async () => {
  expect(JSON.parse(succeeded(await shell.run("api GET keys/meta")).stdout)).toHaveProperty("roles");
  const body = '{"name":"by api","role":"viewer","expiresIn":"1d"}';
  const created = JSON.parse(succeeded(await shell.run("api POST keys -d -", { input: body })).stdout) as {
    data: { id: number; key: string };
  };
  await writeTree(shell.home, { "body.json": body });
  succeeded(await shell.run("api post /api/keys -d @body.json", {}));
  expect((await shell.run("api POST keys -d @body.json", { env: { RUNTIMECTL_KEY: created.data.key } })).status).toBe(5);
  succeeded(await shell.run(`api DELETE /api/keys/${created.data.id}`));
  expect((await shell.run("api GET http://127.0.0.1:1/api/keys")).status).toBe(2);
  expect((await shell.run("api GET //evil/api")).status).toBe(2);
});

test("runtimectl api prints status and headers, and rejects URLs outside of the API", async () => {
  const whole = succeeded(await shell.run("api GET workers -i")).stdout;
  expect(whole).toMatch(/^status 200\n/);
  expect(whole).toContain("\ncontent-type: application/json");
  const document = JSON.parse(succeeded(await shell.run("api GET workers --include --json")).stdout) as object;
  expect(document).toMatchObject({
    status: 200,
    headers: { "x-request-id": expect.any(String) as string },
    body: expect.any(Array) as unknown[],
  });
  await writeTree(shell.home, { "login.json": JSON.stringify({ key: daemon.rootKey }) });
  const login = succeeded(await shell.run("api POST admin/session -d @login.json -i -vv"));
  expect(login.stdout).toContain("set-cookie: [hidden]");
  expect(login.stdout + login.stderr).not.toContain(daemon.rootKey);
  expect((await shell.run("api GET workers -H x-request-id:mine -v")).stderr).toContain("request mine");
  for (const header of ["X-API-Key:abc", "authorization:abc", "Cookie:a=b", "Host:evil", "no-header"])
    expect(await shell.run(`api GET workers -H ${header}`), header).toMatchObject({ status: 2, stdout: "" });
  for (const climbing of ["../hello/", "/api/../hello/", "/api/%2e%2E/hello/", "workers/.."])
    expect(await shell.run(`api GET ${climbing}`), climbing).toMatchObject({ status: 2, stdout: "" });
});

test("runtimectl requires --confirm for a deletion on a production profile", async () => {
  succeeded(await shell.run("workers upload app"));
  succeeded(await shell.run(`profile add live --url ${daemon.url} --production`));
  succeeded(await shell.run("auth login -p live --key-file root.key"));
  for (const flags of ["--yes", "--confirm other", "--confirm @team/app"])
    expect((await shell.run(`workers delete @team/app -p live ${flags}`)).status).toBe(2);
  expect((await shell.run("workers list -p live")).stdout).toContain("@team/app");
  expect((await shell.run("workers list -p live --insecure")).status).toBe(2);
  succeeded(await shell.run("workers delete @team/app -p live --confirm live"));
  succeeded(await shell.run("profile use default"));
});

test("runtimectl rejects a credentials file that other users can read", async () => {
  const file = path.join(shell.home, ".config/runtimectl/credentials.json");
  await chmod(file, 0o644);
  const run = await shell.run("workers list --json");
  await chmod(file, 0o600);
  expect(run).toMatchObject({ status: 4, stdout: "" });
  expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "CREDENTIALS_UNSAFE" } });
});

test("runtimectl reads the profile name in a project file and rejects other settings", async () => {
  await writeTree(shell.home, { ".runtimectl.yaml": "profile: nobody\n" });
  expect((await shell.run("workers list")).stderr).toContain("there is no profile nobody");
  await writeTree(shell.home, { ".runtimectl.yaml": "profile: default\nurl: http://127.0.0.1:1\n" });
  expect((await shell.run("workers list")).status).toBe(2);
  await writeTree(shell.home, { ".runtimectl.yaml": "profile: default\n" });
  succeeded(await shell.run("workers list"));
});
