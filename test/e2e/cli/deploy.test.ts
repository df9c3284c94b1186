import { execFileSync } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { buildZip } from "../../support/build-zip.js";
import { connect } from "../../support/connect.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
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

/** Writes a worker's folder that responds with a text, and to /broken with status 500. */
async function shop(
  folder: string,
  { name = folder, version = "1.0.0", text = version }: { name?: string; version?: string; text?: string } = {},
) {
  await writeTree(shell.home, {
    [`${folder}/manifest.yaml`]: `# the shop\nname: ${JSON.stringify(name)} # its name\nversion: ${version}\n`,
    [`${folder}/index.js`]: `export default { fetch: (request) => new Response(${JSON.stringify(text)}, { status: request.url.endsWith("/broken") ? 500 : 200 }) };\n`,
  });
}

const answerOf = async (url: string) => (await fetch(url)).text();
const workerNamed = async (name: string) =>
  (await connect(daemon.url, daemon.rootKey).workers.list()).find((worker) => worker.name === name);

async function deployJson(words: string): Promise<Record<string, unknown>> {
  return JSON.parse(succeeded(await shell.run(`deploy ${words} --json`)).stdout) as Record<string, unknown>;
}

/** Expects that the command fails with this code and changes no worker and no plugin. */
async function refused(words: string, expected: { status: number; code: string }): Promise<string> {
  const before = await connect(daemon.url, daemon.rootKey).workers.list();
  const plugins = await connect(daemon.url, daemon.rootKey).plugins.list();
  const run = await shell.run(`${words} --json`);
  expect(run, run.stderr).toMatchObject({ status: expected.status, stdout: "" });
  expect(JSON.parse(run.stderr.trim().split("\n").at(-1) ?? "")).toMatchObject({ error: { code: expected.code } });
  expect(await connect(daemon.url, daemon.rootKey).workers.list()).toEqual(before);
  expect(await connect(daemon.url, daemon.rootKey).plugins.list()).toEqual(plugins);
  return run.stderr;
}

test("deploy uploads each version once and prints the command that undoes the change", async () => {
  await shop("app");
  const first = succeeded(await shell.run("deploy app --message first"));
  expect(first.stdout).toBe(`${daemon.url}/app/\n`);
  expect(first.stderr).toContain("Undo: runtimectl workers disable app@1.0.0");
  expect(await answerOf(first.stdout.trim())).toBe("1.0.0");

  const hint = await refused("deploy app", { status: 7, code: "VERSION_EXISTS" });
  expect(hint).toContain("--version 1.0.1");
  await shop("app", { text: "changed" });
  await refused("deploy app --if-changed", { status: 7, code: "VERSION_EXISTS" });

  const second = await deployJson("app --version 1.0.1");
  expect(second).toMatchObject({ action: "install", version: "1.0.1", before: "1.0.0", enabled: true });
  expect(await answerOf(`${daemon.url}/app/`)).toBe("changed");

  const { deploys, versions } = (await workerNamed("app")) ?? {};
  expect(versions).toEqual(["1.0.1", "1.0.0"]);
  expect(deploys).toMatchObject({ "1.0.0": { message: "first" }, "1.0.1": { digest: second["digest"], at: expect.any(Number) as number } });
  const row = (await shell.run("workers list")).stdout.split("\n").find((line) => line.startsWith("app\t1.0.1"));
  expect(row).toMatch(/^app\t1\.0\.1\ton\tlive\tuploaded\t\t\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\tok$/);
  expect((await shell.run("workers list", { isTerminal: true })).stdout).toMatch(
    /COMMIT +DEPLOYED[^]*app +1\.0\.1 +ok +live +uploaded +- +now/,
  );

  const undo = String(second["undo"]);
  succeeded(await shell.run(undo.replace("runtimectl ", "")));
  expect(await answerOf(`${daemon.url}/app/`)).toBe("1.0.0");
});

test("deploy adds the deployment message to the manifest and keeps the comments", async () => {
  await shop("noted");
  await deployJson("noted --message shown");
  const manifest = await readFile(path.join(daemon.directory, "workers/noted/1.0.0/manifest.yaml"), "utf8");
  expect(manifest).toContain("# the shop\n");
  expect(manifest).toContain("# its name\n");
  expect(manifest).toContain('message: "shown"');
});

test("deploy records the Git commit, and whether the folder has uncommitted changes", async () => {
  await shop("tracked");
  const git = (...words: string[]) =>
    execFileSync("git", ["-c", "user.name=Ada", "-c", "user.email=ada@example.org", ...words], {
      cwd: path.join(shell.home, "tracked"),
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    }).trim();
  git("init", "-q");
  git("config", "user.name", "Ada");
  git("add", ".");
  git("commit", "-qm", "one");
  await deployJson("tracked");
  const commit = git("rev-parse", "HEAD");
  expect((await workerNamed("tracked"))?.deploys?.["1.0.0"]).toMatchObject({ commit, dirty: false, by: "Ada" });
  await shop("tracked", { text: "more" });
  await deployJson("tracked --version 1.1.0");
  expect((await workerNamed("tracked"))?.deploys?.["1.1.0"]).toMatchObject({ commit, dirty: true });
  expect((await shell.run("workers list")).stdout).toContain(`tracked\t1.1.0\ton\tlive\tuploaded\t${commit.slice(0, 7)}*\t`);
});

describe("`deploy --if-changed`", () => {
  test("uploads nothing when the content of a folder or archive is unchanged", async () => {
    await shop("same");
    const { digest } = await deployJson("same");
    const installed = (await workerNamed("same"))?.deploys;
    expect(await deployJson("same --if-changed --message other")).toMatchObject({ action: "none", digest, sizeBytes: 0 });
    succeeded(await shell.run("pack same -o same.tgz"));
    expect(await deployJson("same.tgz --if-changed")).toMatchObject({ action: "none", digest });
    const archive = path.join(shell.home, "again.tgz");
    execFileSync("tar", ["czf", archive, "-C", path.join(daemon.directory, "workers/same/1.0.0"), "."]);
    expect(await deployJson("again.tgz --if-changed")).toMatchObject({ action: "none", digest });
    expect((await workerNamed("same"))?.deploys).toEqual(installed);
  });

  test("enables the installed version with the same content when it was disabled", async () => {
    succeeded(await shell.run("workers disable same@1.0.0"));
    expect(await deployJson("same --if-changed")).toMatchObject({ action: "enable", enabled: true });
    expect(await answerOf(`${daemon.url}/same/`)).toBe("1.0.0");
  });
});

describe("`deploy --dry-run`", () => {
  test("prints the plan and changes nothing; with --exit-code, exits with 10", async () => {
    await shop("planned");
    await writeTree(shell.home, { "planned/.env": "SECRET=1" });
    const run = await shell.run("deploy planned --dry-run --exit-code --json");
    expect(run).toMatchObject({ status: 10, stderr: "" });
    expect(JSON.parse(run.stdout)).toMatchObject({ dryRun: true, action: "install", kind: "worker", leftOut: [{ path: ".env" }] });
    expect(await workerNamed("planned")).toBeUndefined();
    expect((await shell.run("deploy planned --dry-run")).status).toBe(0);
    await deployJson("planned");
    succeeded(await shell.run("deploy planned --dry-run --exit-code"));
  });

  test("exits with the same error as `deploy` without --dry-run", async () => {
    await shop("planned", { text: "other" });
    await refused("deploy planned --dry-run --exit-code", { status: 7, code: "VERSION_EXISTS" });
    await refused("deploy planned --exit-code", { status: 2, code: "USAGE" });
  });
});

describe("`deploy --check`", () => {
  test("sends requests to the path until the response has the expected status", async () => {
    await shop("checked");
    const { check } = await deployJson("checked --check /health?a=b=200");
    expect(check).toMatchObject({ url: `${daemon.url}/checked/health?a=b`, status: 200 });
    succeeded(await shell.run("deploy checked --version 1.0.1 --check /broken=500"));
  });

  test("exits with 12 when the check fails, and the new version stays active", async () => {
    const run = await shell.run("deploy checked --version 1.1.0 --check /broken --check-timeout 1500ms --json");
    expect(run).toMatchObject({ status: 12, stdout: "" });
    expect(JSON.parse(run.stderr)).toMatchObject({
      error: { code: "CHECK_FAILED", hint: expect.stringContaining("disable checked@1.1.0") as string },
    });
    expect(run.stderr).toContain("status 500 instead of a status from 200 to 399");
    expect((await workerNamed("checked"))?.disabledVersions).toEqual([]);
  });

  test("with --rollback-on-fail, exits with 11 and restores the previous version", async () => {
    await shop("checked", { text: "bad" });
    const run = await shell.run("deploy checked --version 2.0.0 --check /broken --check-timeout 1500ms --rollback-on-fail --json");
    expect(run).toMatchObject({ status: 11, stdout: "" });
    expect(JSON.parse(run.stderr)).toMatchObject({ error: { code: "CHECK_FAILED_ROLLED_BACK" } });
    expect((await workerNamed("checked"))?.disabledVersions).toEqual(["2.0.0"]);
    expect(await answerOf(`${daemon.url}/checked/`)).toBe("1.0.0");
  });

  test.each<[string, string, number, string]>([
    ["an invalid status", "--check /=999", 2, "USAGE"],
    ["a path with a space", "--check \u00a0", 2, "USAGE"],
    ["an invalid timeout", "--check / --check-timeout soon", 2, "USAGE"],
    ["a rollback without a check", "--rollback-on-fail", 2, "USAGE"],
    ["a check of a disabled version", "--no-enable --check /", 2, "USAGE"],
    ["a rollback of an overwritten version", "--replace --version 1.0.0 --check / --rollback-on-fail", 7, "NO_WAY_BACK"],
  ])("rejects invalid flags and uploads nothing (cause: %s)", async (_, words, status, code) => {
    await refused(`deploy checked ${words}`, { status, code });
  });
});

test("`deploy --no-enable` installs a disabled version and keeps the active version", async () => {
  await shop("quiet");
  await deployJson("quiet");
  await shop("quiet", { version: "2.0.0" });
  const run = succeeded(await shell.run("deploy quiet --no-enable"));
  expect(run.stderr).toContain("Enable     2.0.0 is disabled because of --no-enable\n");
  expect(run.stderr).not.toContain("manifest");
  expect(run.stderr.match(/.*runtimectl workers enable .*/g)).toEqual(["To serve it: runtimectl workers enable quiet@2.0.0"]);
  expect((await workerNamed("quiet"))?.disabledVersions).toEqual(["2.0.0"]);
  expect(await answerOf(`${daemon.url}/quiet/`)).toBe("1.0.0");
  succeeded(await shell.run("workers enable quiet@2.0.0"));
  expect(await answerOf(`${daemon.url}/quiet/`)).toBe("2.0.0");
});

test("`deploy --keep` deletes old versions, but never the active or the new version", async () => {
  for (const version of ["1.0.0", "1.1.0", "1.2.0"]) {
    await shop("kept", { version });
    await deployJson("kept");
  }
  await shop("kept", { version: "1.3.0" });
  expect(await deployJson("kept --keep 2")).toMatchObject({ deleted: expect.arrayContaining(["1.0.0", "1.1.0"]) as string[] });
  expect((await workerNamed("kept"))?.versions).toEqual(["1.3.0", "1.2.0"]);
  await shop("kept", { version: "1.0.5" });
  await deployJson("kept --keep 1");
  expect((await workerNamed("kept"))?.versions).toEqual(["1.3.0", "1.0.5"]);
  await shop("kept", { version: "1.4.0" });
  await refused("deploy kept --keep 0", { status: 2, code: "USAGE" });
});

test("`deploy --keep` exits with 9 when the key is not allowed to delete old versions", async () => {
  await shop("kept", { version: "1.5.0" });
  const words = "keys create --permission workers:read --permission workers:install --expires 1d -o ci.key";
  succeeded(await shell.run(words));
  const run = await shell.run("deploy kept --keep 1 --key-file ci.key --json");
  expect(run).toMatchObject({ status: 9, stdout: "" });
  expect((await workerNamed("kept"))?.versions).toEqual(["1.5.0", "1.3.0", "1.0.5"]);
});

test("`deploy` on a production profile requires --confirm for --replace and --keep", async () => {
  await shop("replaced");
  await deployJson("replaced");
  await shop("replaced", { text: "second" });
  expect(await deployJson("replaced --replace")).toMatchObject({ action: "replace", undo: null });
  expect(await answerOf(`${daemon.url}/replaced/`)).toBe("second");

  succeeded(await shell.run(`profile add live --url ${daemon.url} --production`));
  succeeded(await shell.run("auth login -p live --key-file root.key"));
  await shop("replaced", { text: "third" });
  for (const words of ["--replace", "--replace --yes", "--version 3.0.0 --keep 1"])
    await refused(`deploy replaced -p live ${words}`, { status: 2, code: "USAGE" });
  succeeded(await shell.run("deploy replaced -p live --replace --confirm live"));
  expect(await answerOf(`${daemon.url}/replaced/`)).toBe("third");
  succeeded(await shell.run("deploy replaced -p live --version 1.0.1"));
  succeeded(await shell.run("profile use default"));
});

test("`deploy --name` and --version override the name and version of the manifest", async () => {
  await writeTree(shell.home, {
    "bare/manifest.yaml": "env: {}",
    "bare/index.js": "export default { fetch: () => new Response('bare') };",
  });
  await refused("deploy bare", { status: 1, code: "MISSING_PACKAGE_NAME" });
  await refused("deploy bare --name Bare", { status: 2, code: "USAGE" });
  await refused("deploy bare --name bare --version 1.0", { status: 2, code: "USAGE" });
  await refused(`deploy bare --name bare --message ${"m".repeat(501)}`, { status: 2, code: "USAGE" });
  expect(await deployJson("bare --name @team/bare --version 1.2.3")).toMatchObject({ url: `${daemon.url}/@team/bare/` });
  expect(await answerOf(`${daemon.url}/@team/bare/`)).toBe("bare");
});

test("`deploy --bundle` uploads the code as one file", async () => {
  await writeTree(shell.home, {
    "typed/manifest.yaml": "name: typed\nversion: 1.0.0\nentrypoint: src/index.ts\n",
    "typed/src/index.ts": 'import { text } from "./text";\nexport default { fetch: (): Response => new Response(text) };\n',
    "typed/src/text.ts": 'export const text: string = "bundled";\n',
  });
  await deployJson("typed --bundle --check /");
  expect(await answerOf(`${daemon.url}/typed/`)).toBe("bundled");
  expect(await deployJson("typed --bundle --if-changed")).toMatchObject({ action: "none" });
});

test("deploy installs a ZIP archive with the same digest as its folder", async () => {
  const files = { "manifest.yaml": "name: zipped\nversion: 1.0.0\nentrypoint: public/index.html\n", "public/index.html": "zip" };
  await writeTree(path.join(shell.home, "zipped"), files);
  await writeFile(path.join(shell.home, "zipped.zip"), buildZip(Object.entries(files).map(([name, content]) => ({ name, content }))));
  const { digest } = await deployJson("zipped.zip --check /");
  expect(await answerOf(`${daemon.url}/zipped/`)).toBe("zip");
  expect(await deployJson("zipped --if-changed")).toMatchObject({ action: "none", digest });
});

/** Writes a plugin's folder with this module. */
async function guard(code: string, version = "1.0.0"): Promise<void> {
  await writeTree(shell.home, { "guard/manifest.yaml": `name: guard\nversion: ${version}\nbase: /guarded\n`, "guard/plugin.js": code });
}

function answering(text: string): string {
  return `export default { routes: { fetch: () => new Response(${JSON.stringify(text)}) } };`;
}

describe("`deploy` of a plugin folder", () => {
  test("detects the plugin by its manifest and replaces the previous version", async () => {
    await guard(answering("one"));
    expect(await deployJson("guard --check / --rollback-on-fail")).toMatchObject({ kind: "plugin", url: `${daemon.url}/guarded/` });
    expect(await answerOf(`${daemon.url}/guarded/`)).toBe("one");
    await refused("deploy guard", { status: 7, code: "VERSION_EXISTS" });
    expect(await deployJson("guard --if-changed")).toMatchObject({ action: "none" });
    await guard(answering("two"), "1.1.0");
    await refused("deploy guard --check / --rollback-on-fail", { status: 7, code: "NO_WAY_BACK" });
    await refused("deploy guard --keep 2", { status: 2, code: "USAGE" });
    expect(await deployJson("guard")).toMatchObject({ action: "install", before: "1.0.0" });
    expect(await answerOf(`${daemon.url}/guarded/`)).toBe("two");
    const listed = (await connect(daemon.url, daemon.rootKey).plugins.list()).find(({ name }) => name === "guard");
    expect(listed?.deploy).toMatchObject({ digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string });
  });

  test("exits with 1 and keeps the previous version when the new version fails to load", async () => {
    await guard("throw new Error('no luck');", "2.0.0");
    const words = await refused("deploy guard", { status: 1, code: "PLUGIN_LOAD_FAILED" });
    expect(words).toContain("no luck (plugin.js:1:7). Nothing changed: guard 1.1.0 is still loaded.");
    expect(await answerOf(`${daemon.url}/guarded/`)).toBe("two");
  });

  test("exits with 12 and prints the reason when a new plugin fails to load", async () => {
    const files = { "manifest.yaml": "name: fresh\nversion: 1.0.0\nbase: /fresh\n", "plugin.js": "throw new Error('no luck');" };
    await writeTree(path.join(shell.home, "fresh"), files);
    const run = await shell.run("deploy fresh --json");
    expect(run).toMatchObject({ status: 12, stdout: "" });
    expect(run.stderr).toContain("it failed to load: no luck (plugin.js:1:7)");
  });

  test("uploads a package as a plugin with --kind plugin when the kind is ambiguous", async () => {
    await writeTree(shell.home, {
      "both/manifest.yaml": "name: both\nversion: 1.0.0\n",
      "both/index.js": answering("plugin").replace("routes", "server"),
    });
    expect(await deployJson("both --kind plugin")).toMatchObject({ kind: "plugin" });
  });
});

test("deploy prints line and column of each manifest error, and uploads nothing", async () => {
  await writeTree(shell.home, { "wrong/manifest.yaml": "name: wrong\ntimeout: soon\n  \nmemory: lots\n", "wrong/index.js": "" });
  const words = await refused("deploy wrong", { status: 1, code: "INVALID_PACKAGE_METADATA" });
  expect(words).toContain("manifest.yaml:2:10: timeout");
  expect(words).toContain("manifest.yaml:4:9: memory");
});
