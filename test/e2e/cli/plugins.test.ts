import { execFileSync } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { ShellSession, succeeded } from "./shell-session.js";

let daemon: TestDaemon;
let shell: ShellSession;

beforeAll(async () => {
  [daemon, shell] = await Promise.all([startDaemon(), ShellSession.open()]);
  await writeTree(shell.home, {
    "root.key": `${daemon.rootKey}\n`,
    "guard/manifest.yaml": '# ours\nname: "@team/guard"\nversion: 1.2.0\npluginEntry: dist/guard.js\nbase: /guard\n',
    "guard/dist/guard.js": "export default {};\n",
    "guard/src/guard.ts": "export default {};\n",
    "guard/.gitignore": "dist\nsrc\n",
    "guard/.env": "SECRET=1\n",
  });
  await shell.run(`auth login --url ${daemon.url} --key-file root.key`);
});

afterAll(async () => {
  await daemon?.dispose();
  await shell?.close();
});

const rowOf = async (name: string) => {
  const { stdout } = succeeded(await shell.run("plugins list"));
  return stdout.split("\n").find((line) => line.startsWith(`${name}\t`));
};

test("runtimectl plugins uploads, disables, enables, reloads and deletes a plugin", async () => {
  const dryRun = succeeded(await shell.run("plugins upload guard --dry-run"));
  expect(
    dryRun.stdout.split("\n").map((line) =>
      line
        .split("\t")
        .filter((cell) => !/^\d+$/.test(cell))
        .slice(0, 3),
    ),
  ).toEqual([
    ["+", ".gitignore", "no matching rule"],
    ["+", "dist/guard.js", "always included"],
    ["+", "manifest.yaml", "always included"],
    ["-", "", ".env"],
    ["-", "", "src/"],
    [""],
  ]);
  expect(await rowOf("@team/guard")).toBeUndefined();

  const upload = succeeded(await shell.run("plugins upload guard"));
  expect(upload.stdout).toMatch(/^@team\/guard 1\.2\.0 (loaded|waiting)\n$/);
  expect(await rowOf("@team/guard")).toMatch(/^@team\/guard\t1\.2\.0\t(loaded|waiting)\tuploaded\t\tok$/);

  succeeded(await shell.run("plugins disable @team/guard"));
  expect(await rowOf("@team/guard")).toBe("@team/guard\t1.2.0\tdisabled\tuploaded\t\tdisabled");
  const off = JSON.parse(succeeded(await shell.run("plugins list --json")).stdout) as { plugins: { name: string; path: string }[] };
  const installed = off.plugins.find(({ name }) => name === "@team/guard");
  expect(installed).toMatchObject({ enabled: false, status: "disabled", removable: true });
  expect(await readFile(path.join(installed?.path ?? "", "manifest.yaml"), "utf8")).toMatch(/^# ours\nenabled: false\nname:/);
  const on = JSON.parse(succeeded(await shell.run("plugins enable @team/guard --json")).stdout) as object;
  expect(on).toMatchObject({ name: "@team/guard", enabled: true, status: expect.stringMatching(/loaded|waiting/) as string });

  await writeTree(shell.home, { "guard/manifest.yaml": 'name: "@team/guard"\nversion: 1.1.0\npluginEntry: dist/guard.js\n' });
  const again = JSON.parse(succeeded(await shell.run("plugins upload guard --json")).stdout) as object;
  expect(again).toMatchObject({
    name: "@team/guard",
    version: "1.1.0",
    installedAt: installed?.path,
    sizeBytes: expect.any(Number) as number,
    sha256: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
  });
  expect(succeeded(await shell.run("plugins reload")).stdout).toMatch(/^@team\/guard\t1\.1\.0\tloaded\t/m);
  succeeded(await shell.run("plugins loaded"));

  expect((await shell.run("plugins delete @team/guard")).status).toBe(2);
  expect(await rowOf("@team/guard")).toBeDefined();
  succeeded(await shell.run("plugins delete @team/guard --yes"));
  expect(await rowOf("@team/guard")).toBeUndefined();
  expect((await shell.run("plugins delete @team/guard --yes")).status).toBe(6);
});

test("runtimectl plugins upload accepts a folder that contains only a manifest", async () => {
  await writeTree(shell.home, { "settings/manifest.yaml": "name: plugin-gateway\nenabled: false\n" });
  const dryRun = JSON.parse(succeeded(await shell.run("plugins upload settings --dry-run --json")).stdout) as object;
  expect(dryRun).toMatchObject({ name: "plugin-gateway", version: "latest", entrypoint: null, files: [{ path: "manifest.yaml" }] });

  const upload = await shell.run("plugins upload settings");

  expect(upload.stdout).toContain("plugin-gateway ");
  expect(upload.stderr).toContain("its manifest configures the built-in plugin with this name");
  expect(upload.stderr).not.toContain("nothing in the folder can be served");
});

test("runtimectl plugins upload accepts an existing archive", async () => {
  execFileSync("tar", ["czf", path.join(shell.home, "ready.tgz"), "-C", path.join(shell.home, "guard"), "dist", "manifest.yaml"]);
  expect(succeeded(await shell.run("plugins upload ready.tgz")).stdout).toMatch(/^@team\/guard 1\.1\.0 /);
  succeeded(await shell.run("plugins delete @team/guard --yes"));
});

test("runtimectl plugins enable exits with 1 when the plugin fails to load", async () => {
  await writeTree(path.join(daemon.directory, "plugins"), { "bad/manifest.yaml": "name: bad\nenabled: false\nbase: /api\n" });

  const run = await shell.run("plugins enable bad --json");

  expect(run.status).toBe(1);
  expect(JSON.parse(run.stdout)).toMatchObject({ name: "bad", enabled: true, status: "failed", error: expect.any(String) as string });
  expect(run.stderr).toMatch(/warning: bad is enabled, but failed to load: .*\/api/);
  expect(await rowOf("bad")).toMatch(/^bad\tlatest\tfailed\tuploaded\t.*\/api/);
  expect(succeeded(await shell.run("status")).stdout).toMatch(/^plugins +\d+ \(1 failed\)$/m);
  expect(JSON.parse((await shell.run("status --json")).stdout)).toMatchObject({ failedPlugins: 1 });
  succeeded(await shell.run("plugins delete bad --yes"));
  expect(succeeded(await shell.run("status")).stdout).toMatch(/^plugins +\d+$/m);
});

test("`plugins reload` exits with 1 if a plugin fails, and lists disabled plugins too", async () => {
  await writeTree(path.join(daemon.directory, "plugins"), {
    "bad/manifest.yaml": "name: bad\nbase: /api\n",
    "off/manifest.yaml": "name: off\nenabled: false\n",
    "off/plugin.js": "export default {};",
  });

  const run = await shell.run("plugins reload");

  expect(run.status).toBe(1);
  expect(run.stdout).toMatch(/^bad\tlatest\tfailed\t.*\/api/m);
  expect(run.stdout).toMatch(/^off\tlatest\tdisabled\t$/m);
  expect(run.stderr).toMatch(/warning: bad is enabled, but failed to load: .*\/api/);
  succeeded(await shell.run("plugins delete bad off --yes"));
  succeeded(await shell.run("plugins reload"));
});

test("`plugins delete` of a built-in plugin deletes its override, or fails without one", async () => {
  succeeded(await shell.run("plugins upload settings"));

  const removed = succeeded(await shell.run("plugins delete plugin-gateway --yes"));
  expect(removed.stderr).toContain("removed your settings of the built-in plugin plugin-gateway, which now has its defaults");
  expect(removed.stderr).not.toContain("deleted plugin-gateway");

  const refused = await shell.run("plugins delete plugin-gateway --yes");
  expect(refused.status).toBe(5);
  expect(refused.stderr).toContain(
    "hint: to disable it: runtimectl plugins disable plugin-gateway\n(BUILT_IN_PLUGIN_REMOVE_FORBIDDEN, request ",
  );
});

test("`plugins list` prints a hint if no plugin exists; `delete` asks the user first", async () => {
  const listed = await shell.run("plugins loaded", { isTerminal: true });
  expect(listed.stderr).toContain("to see why: runtimectl plugins list");
  succeeded(await shell.run("plugins upload settings"));
  const declined = await shell.runInTerminal("plugins delete plugin-gateway", { input: "something else\r" });
  expect(declined.status, declined.stdout).toBe(3);
  expect(await rowOf("plugin-gateway")).toBeDefined();
});

test("`plugins show` prints state, error, base path and dependencies", async () => {
  await writeTree(shell.home, {
    "menus/manifest.yaml":
      "name: menus\nversion: 1.0.0\nbase: /menus\ndependencies: [basis]\noptionalDependencies: [extra]\nmenus:\n  - title: Sales\n    icon: chart\n    path: /sales\n",
    "menus/plugin.js": "export default {};\n",
    "basis/manifest.yaml": "name: basis\nversion: 2.0.0\n",
    "basis/plugin.js": "export default {};\n",
  });

  expect((await shell.run("plugins upload menus")).status).toBe(1);
  const failed = succeeded(await shell.run("plugin show menus")).stdout;
  expect(failed).toMatch(/^state +failed\nerror +.*basis/m);
  expect(failed).not.toMatch(/^base/m);

  succeeded(await shell.run("plugins upload basis"));
  const shown = succeeded(await shell.run("plugins show menus")).stdout;
  expect(shown).toMatch(/^state +loaded$/m);
  expect(shown).toMatch(/^base +\/menus\ndepends on +basis\noptional +extra$/m);
  expect(shown).toMatch(/^menu +Sales {2}\/sales$/m);
  const place = Number(/position (\d) of/.exec(shown)?.[1]);
  expect(JSON.parse(succeeded(await shell.run("plugins show menus --json")).stdout)).toMatchObject({
    name: "menus",
    version: "1.0.0",
    status: "loaded",
    base: "/menus",
    dependencies: ["basis"],
    optionalDependencies: ["extra"],
    menus: [{ title: "Sales", path: "/sales" }],
    hookPosition: place,
  });

  succeeded(await shell.run("plugins disable menus"));
  expect((await shell.run("plugins show menus")).stdout).toMatch(/^state +disabled$/m);
  const deleted = await shell.run("plugin rm menus nobody basis --yes");
  expect(deleted.status).toBe(9);
  expect(deleted.stdout).toBe("menus\tdeleted\nnobody\tPLUGIN_NOT_FOUND\nbasis\tdeleted\n");
  expect(await rowOf("basis")).toBeUndefined();
});
