import { execFileSync } from "node:child_process";
import { mkdir, symlink } from "node:fs/promises";
import { createServer } from "node:net";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { CommandError } from "../../../src/cli/command/command-error.js";
import { planPack } from "../../../src/cli/pack/pack-plan.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";
import { writeTree } from "../../support/write-tree.js";

const manifest = "name: app\nversion: 1.0.0\n";

async function folderOf(files: Readonly<Record<string, string>>): Promise<string> {
  const folder = path.join(await temporaryDirectory(), "app");
  await writeTree(folder, files);
  return folder;
}

async function packed(files: Readonly<Record<string, string>>): Promise<string[]> {
  return (await planPack(await folderOf(files))).files.map((file) => file.path);
}

async function refusal(folder: string): Promise<CommandError> {
  const error: unknown = await planPack(folder).catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(CommandError);
  return error as CommandError;
}

describe("the file list of a package archive", () => {
  const dependencies = JSON.stringify({ name: "app", dependencies: { hono: "4" }, devDependencies: { vite: "8", shared: "1" } });
  const installed = {
    "node_modules/hono/package.json": '{"dependencies":{"shared":"1"}}',
    "node_modules/hono/index.js": "",
    "node_modules/shared/package.json": "{}",
    "node_modules/vite/package.json": '{"dependencies":{"rollup":"4"}}',
    "node_modules/vite/node_modules/rollup/package.json": "{}",
    "node_modules/by-hand/package.json": "{}",
    "node_modules/.bin/vite": "",
    "node_modules/.cache/x": "",
  };
  const installedToRun = [
    "node_modules/by-hand/package.json",
    "node_modules/hono/index.js",
    "node_modules/hono/package.json",
    "node_modules/shared/package.json",
  ];
  test.each<[string, Record<string, string>, string[]]>([
    [
      "all files of a folder without settings",
      { "manifest.yaml": manifest, "index.js": "", "lib/a.js": "" },
      ["index.js", "lib/a.js", "manifest.yaml"],
    ],
    [
      "all but secrets, version control and temporary files",
      {
        "manifest.yaml": manifest,
        "index.js": "",
        ".env": "",
        ".env.production": "",
        "tls/server.pem": "",
        id_ed25519: "",
        "id_rsa.pub": "",
        ".npmrc": "",
        ".runtimectl.yaml": "",
        ".git/HEAD": "",
        ".runtime/audit/0": "",
        "root.key": "",
        "backup/keys.db": "",
        ".vscode/a": "",
        "a.js~": "",
        ".a.swp": "",
        ".DS_Store": "",
        "id_map.js": "",
      },
      ["id_map.js", "index.js", "manifest.yaml"],
    ],
    [
      "by .runtimeignore, which overrides files and .gitignore",
      {
        "manifest.yaml": manifest,
        "package.json": '{"name":"app","files":["b.js"]}',
        ".gitignore": "index.js\n",
        ".runtimeignore": "*.map\n/drafts\n!keep.map\nnode_modules\n",
        "index.js": "",
        "index.js.map": "",
        "keep.map": "",
        "drafts/a": "",
        "node_modules/a/index.js": "",
      },
      [".gitignore", "index.js", "keep.map", "manifest.yaml", "package.json"],
    ],
    [
      "by an allow-list in .runtimeignore",
      { "manifest.yaml": manifest, ".runtimeignore": "/*\n!/dist\n", "index.js": "", "dist/a.js": "", "src/a.ts": "" },
      ["dist/a.js", "index.js", "manifest.yaml"],
    ],
    [
      "by files of package.json, main included",
      {
        "package.json": '{"name":"app","main":"server.js","files":["dist","./lib/*.js","!dist/*.map"]}',
        "server.js": "",
        "dist/a.js": "",
        "dist/a.map": "",
        "lib/b.js": "",
        "lib/b.ts": "",
        "c.js": "",
      },
      ["dist/a.js", "lib/b.js", "package.json", "server.js"],
    ],
    [
      "by .gitignore, except in the folder of assets",
      {
        "manifest.yaml": `${manifest}entrypoint: server.mjs\nassets: ./dist/client/\n`,
        ".gitignore": "dist\n",
        "server.mjs": "",
        "dist/client/assets/a.js": "",
        "dist/server/a.js": "",
      },
      [".gitignore", "dist/client/assets/a.js", "manifest.yaml", "server.mjs"],
    ],
    [
      "by files of package.json, with the folder of assets",
      {
        "manifest.yaml": `${manifest}entrypoint: lib/server.mjs\nassets: { directory: client }\n`,
        "package.json": '{"files":["lib"]}',
        "lib/server.mjs": "",
        "client/a.js": "",
        "other.js": "",
      },
      ["client/a.js", "lib/server.mjs", "manifest.yaml", "package.json"],
    ],
    [
      "by .gitignore, also nested and negated",
      {
        "manifest.yaml": manifest,
        "index.js": "",
        ".gitignore": "*.log\nbuild\n",
        "a.log": "",
        "build/a": "",
        "lib/.gitignore": "!*.log\nx\n",
        "lib/b.log": "",
        "lib/x": "",
      },
      [".gitignore", "index.js", "lib/.gitignore", "lib/b.log", "manifest.yaml"],
    ],
    [
      "git-ignored build output with the entrypoint",
      {
        "manifest.yaml": `${manifest}entrypoint: dist/index.html\n`,
        ".gitignore": "dist\n*.map\n",
        "dist/index.html": "",
        "dist/assets/a.js": "",
        "dist/a.map": "",
        "src/a.map": "",
        "src/a.ts": "",
      },
      [".gitignore", "dist/a.map", "dist/assets/a.js", "dist/index.html", "manifest.yaml", "src/a.ts"],
    ],
    [
      "installed production dependencies, even if git ignores them",
      { "package.json": dependencies, ".gitignore": "node_modules\n", "index.js": "", ...installed },
      [".gitignore", "index.js", ...installedToRun, "package.json"],
    ],
    [
      "installed production dependencies, even if files excludes them",
      { "package.json": dependencies.replace("{", '{"files":["index.js"],'), "index.js": "", ...installed },
      ["index.js", ...installedToRun, "package.json"],
    ],
    [
      "no installed packages for a built page",
      { "package.json": dependencies, "manifest.yaml": "entrypoint: dist/index.html\n", "dist/index.html": "", ...installed },
      ["dist/index.html", "manifest.yaml", "package.json"],
    ],
    [
      "the entrypoint, even if a rule excludes it",
      {
        "manifest.yaml": `${manifest}entrypoint: out/main.js\n`,
        ".runtimeignore": "out\nmanifest.yaml\n",
        "out/main.js": "",
        "out/other.js": "",
      },
      ["manifest.yaml", "out/main.js"],
    ],
  ])("contains exactly the files that the rules permit (case: %s)", async (_, files, expected) => {
    expect(await packed(files)).toEqual(expected);
  });
});

test("packing lists each excluded file and the rule that excludes the file", async () => {
  const plan = await planPack(
    await folderOf({ "manifest.yaml": manifest, "index.js": "", ".env": "", ".runtimeignore": "# notes\n*.map\n", "a.map": "" }),
  );
  expect(plan.leftOut).toEqual([
    { path: ".env", rule: "always excluded: .env*: can contain secrets" },
    { path: ".runtimeignore", rule: "always excluded: .runtimeignore, settings of this folder" },
    { path: "a.map", rule: ".runtimeignore: *.map" },
  ]);
});

test("packing includes links to files within the folder, and no other links", async () => {
  const folder = await folderOf({
    "manifest.yaml": manifest,
    "index.js": "",
    "real/a.js": "inside",
    ".env": "secret",
    "../outside.txt": "outside",
  });
  await symlink("real/a.js", path.join(folder, "file-link.js"));
  await symlink("real", path.join(folder, "folder-link"));
  await symlink("../outside.txt", path.join(folder, "out.txt"));
  await symlink("/etc", path.join(folder, "etc"));
  await symlink(".env", path.join(folder, "settings"));
  await symlink("nowhere", path.join(folder, "dangling"));
  await symlink("itself", path.join(folder, "itself"));
  await symlink("..", path.join(folder, "real", "up"));
  const plan = await planPack(folder);
  expect(plan.files.map((file) => file.path)).toEqual(["file-link.js", "folder-link/a.js", "index.js", "manifest.yaml", "real/a.js"]);
  expect(Object.fromEntries(plan.links.map((link) => [link.path, link.rule]))).toEqual({
    dangling: "a link without a target",
    etc: "a link to a target outside of the folder",
    "folder-link/up": "a link to a target outside of the folder",
    itself: "a link that loops",
    "out.txt": "a link to a target outside of the folder",
    "real/up": "a link to a target outside of the folder",
    settings: "a link to a target that is always excluded: .env*: can contain secrets",
  });
});

test("packing includes each file once when a link points to a parent folder", async () => {
  const folder = await folderOf({ "manifest.yaml": manifest, "index.js": "", "a/b/c.js": "" });
  await symlink("../..", path.join(folder, "a/b/up"));
  await symlink("..", path.join(folder, "a/b/parent"));
  const plan = await planPack(folder);
  expect(plan.files.map((file) => file.path)).toEqual(["a/b/c.js", "index.js", "manifest.yaml"]);
  expect(plan.links.map((link) => link.path)).toEqual(["a/b/parent", "a/b/up"]);
});

test("packing fails for FIFOs, sockets and invalid names that no ignore rule excludes", async () => {
  const folder = await folderOf({ "manifest.yaml": manifest, "index.js": "", "back\\slash.js": "" });
  execFileSync("mkfifo", [path.join(folder, "pipe")]);
  const server = createServer().listen(path.join(folder, "socket"));
  onTestFinished(() => void server.close());
  await mkdir(path.join(folder, "sub"));
  const error = await refusal(folder);
  expect(error.code).toBe("UNPACKABLE");
  expect(error.details).toEqual(["back\\slash.js: a name that cannot be packed", "pipe: a FIFO", "socket: a socket"]);
  await writeTree(folder, { ".runtimeignore": "pipe\nsocket\nback*\n" });
  expect((await planPack(folder)).files.map((file) => file.path)).toEqual(["index.js", "manifest.yaml"]);
});

describe("a package that the daemon would reject", () => {
  test.each<[string, Record<string, string>, string]>([
    ["no metadata file", { "index.js": "" }, "MISSING_PACKAGE_NAME"],
    ["no name", { "manifest.yaml": "version: 1.0.0\n" }, "MISSING_PACKAGE_NAME"],
    ["an uppercase name", { "manifest.yaml": "name: App\n" }, "INVALID_PACKAGE_NAME"],
    ["a name with ..", { "package.json": '{"name":"../app"}' }, "INVALID_PACKAGE_NAME"],
    ["a version that is a number", { "manifest.yaml": "name: app\nversion: 1.0\n" }, "INVALID_PACKAGE_VERSION"],
    ["broken YAML", { "manifest.yaml": "name: [\n" }, "INVALID_PACKAGE_METADATA"],
    ["broken JSON", { "package.json": "{" }, "INVALID_PACKAGE_METADATA"],
    ["an entrypoint outside of the folder", { "manifest.yaml": "name: app\nentrypoint: ../a.js\n" }, "INVALID_PACKAGE_METADATA"],
    ["a missing entrypoint", { "manifest.yaml": "name: app\nentrypoint: dist/a.js\n" }, "ENTRYPOINT_NOT_FOUND"],
  ])("is rejected before the upload (defect: %s)", async (_, files, code) => {
    expect((await refusal(await folderOf(files))).code).toBe(code);
  });

  test("has an error that names the missing metadata, or all files that a worker can start with", async () => {
    expect((await refusal(await folderOf({ "index.js": "" }))).message).toContain("has neither manifest.yaml nor package.json");
    const empty = await refusal(await folderOf({ "README.md": "" }));
    expect(empty.message).toContain("has nothing to deploy: no manifest, package.json, index.html or index.js");
    expect(empty.hint).toBe("to create a project: runtimectl init NAME");
  });
});
