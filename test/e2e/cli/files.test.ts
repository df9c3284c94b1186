import { readFile, stat } from "node:fs/promises";
import path from "node:path";
import { request } from "undici";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

const unit = "workers/@team/app/1.0.0";
let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, { "root.key": `${daemon.rootKey}\n`, "index.html": "new", "dist/a.css": "a", "dist/img/b.svg": "b" });
  const archive = await packFiles({ "manifest.yaml": manifestOf("@team/app", "1.0.0"), "index.html": "old" });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("a.tgz", archive) });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const names = async () =>
  (JSON.parse(succeeded(await shell.run(`files ls ${unit} --json=name`)).stdout) as { entries: { name: string }[] }).entries.map(
    ({ name }) => name,
  );

test("runtimectl files uploads, lists, downloads, moves and deletes files of a worker", async () => {
  expect(succeeded(await shell.run("files ls")).stdout).toMatch(/^workers\/\t\t/);
  const missing = await shell.run("files ls app");
  expect(missing.status).toBe(6);
  expect(missing.stderr).toContain("runtimectl files ls workers/app");
  succeeded(await shell.run(`files put index.html dist ${unit}`));
  expect(await (await request(`${daemon.url}/@team/app/`)).body.text()).toBe("new");
  succeeded(await shell.run(`files put dist/. ${unit}/more/`));
  succeeded(await shell.run(`files mkdir ${unit}/empty`));
  expect(await names()).toEqual(["dist", "empty", "more", "index.html", "manifest.yaml"]);

  expect(succeeded(await shell.run(`files get ${unit}/more/img/b.svg -`)).stdout).toBe("b");
  succeeded(await shell.run(`files get ${unit}/dist/a.css fetched.css`));
  expect(await readFile(path.join(shell.home, "fetched.css"), "utf8")).toBe("a");
  succeeded(await shell.run(`files get ${unit}`));
  expect((await stat(path.join(shell.home, "1.0.0.zip"))).size).toBeGreaterThan(100);

  succeeded(await shell.run(`files mv ${unit}/dist/a.css ${unit}/empty`));
  succeeded(await shell.run(`files rm ${unit}/dist ${unit}/more ${unit}/empty --yes`));
  expect(await names()).toEqual(["index.html", "manifest.yaml"]);
});

test("runtimectl files prints the reason when a changed file breaks the worker", async () => {
  const code = "workers/code/1.0.0";
  const archive = await packFiles({
    "manifest.yaml": manifestOf("code", "1.0.0"),
    "index.js": "export default { fetch: () => new Response() };",
  });
  await connect(daemon.url, daemon.rootKey).workers.upload({ file: uploadOf("a.tgz", archive) });
  await writeTree(shell.home, { "bad/index.js": "export default {", "good/index.js": "export default { fetch: () => new Response() };" });

  const put = succeeded(await shell.run(`files put bad/index.js ${code}`));
  expect(put.stderr).toMatch(/^warning: code@1\.0\.0 responds with 502: .*SyntaxError: index\.js:1:\d+: /m);
  expect(put.stderr).toContain("Log: runtimectl workers logs code@1.0.0 --level error");
  expect(succeeded(await shell.run(`files put good/index.js ${code}`)).stderr).toContain("code@1.0.0 responds with 200");
  expect(succeeded(await shell.run(`files mv ${code}/index.js ${code}/other.js`)).stderr).toContain("warning: code@1.0.0 responds with 50");
  succeeded(await shell.run(`files mv ${code}/other.js ${code}/index.js`));
  expect(succeeded(await shell.run(`files rm ${code}/index.js --yes`)).stderr).toContain("warning: code@1.0.0 responds with 50");
});

test("runtimectl files warns when a plugin cannot be loaded after a file change", async () => {
  const archive = await packFiles({
    "manifest.yaml": manifestOf("guard", "1.0.0"),
    "plugin.js": "export default { onRequest: () => {} };",
  });
  await connect(daemon.url, daemon.rootKey).plugins.upload({ file: uploadOf("a.tgz", archive) });
  await writeTree(shell.home, { "plugin.js": "export default {" });

  const put = succeeded(await shell.run("files put plugin.js plugins/guard --plugins"));
  expect(put.stderr).toContain("warning: guard is changed, but failed to load: ");
});

test("a failed `runtimectl files` changes no file of the daemon or the client", async () => {
  expect(await shell.run(`files rm ${unit}/index.html`)).toMatchObject({ status: 2 });
  expect(await shell.run(`files put index.html workers`)).toMatchObject({ status: 5 });
  expect(await shell.run(`files get ${unit}/nothing.txt`)).toMatchObject({ status: 6 });
  expect(await shell.run(`files get ${unit}/index.html root.key`)).toMatchObject({ status: 2 });
  expect(await shell.run(`files mv ${unit}/index.html ${unit}/manifest.yaml`)).toMatchObject({ status: 7 });

  expect(await readFile(path.join(shell.home, "root.key"), "utf8")).toBe(`${daemon.rootKey}\n`);
  await expect(stat(path.join(shell.home, "nothing.txt"))).rejects.toMatchObject({ code: "ENOENT" });
  expect(await names()).toEqual(["index.html", "manifest.yaml"]);
});
