import { describe, expect, test } from "vitest";
import { chosenFolder } from "../../../src/cpanel/upload/dropped-folder.js";
import { planFolder } from "../../../src/cpanel/upload/folder-plan.js";
import { createArchive } from "../../../src/cpanel/upload/package-archive.js";
import { usualLimits } from "../../../src/shared/archive/usual-limits.js";
import { memoryFolder } from "./memory-folder.js";

const { signal } = new AbortController();
const manifest = "name: '@team/shop'\nversion: 1.0.0\n";

async function plan(files: Readonly<Record<string, string>>) {
  const folder = memoryFolder("shop", { "manifest.yaml": manifest, ...files });
  const { files: packed, excluded } = await planFolder(folder, "worker", signal);
  return { packed, excluded: excluded.map(({ path }) => path).toSorted(), rules: excluded, listed: folder.listed };
}

describe("planFolder", () => {
  test("includes all files, sorted, when no rule excludes any", async () => {
    const { packed, excluded } = await plan({ "z.js": "", "a/b.js": "" });
    expect(packed).toEqual(["a/b.js", "manifest.yaml", "z.js"]);
    expect(excluded).toEqual([]);
  });

  test("excludes .git, secrets and .DS_Store, and reads no excluded folder", async () => {
    const { packed, excluded, listed } = await plan({
      ".git/config": "",
      ".env.local": "",
      "key.pem": "",
      ".DS_Store": "",
      "index.js": "",
    });
    expect(packed).toEqual(["index.js", "manifest.yaml"]);
    expect(excluded).toEqual([".DS_Store", ".env.local", ".git/", "key.pem"]);
    expect(listed).toEqual([""]);
  });

  test("excludes files that match .gitignore, and returns the rule for each of them", async () => {
    const { packed, rules } = await plan({ ".gitignore": "*.log\ntmp/\n", "debug.log": "", "tmp/x.js": "", "index.js": "" });
    expect(packed).toContain("index.js");
    expect(packed).not.toContain("tmp/x.js");
    expect(rules).toEqual(
      expect.arrayContaining([
        { path: "debug.log", rule: expect.stringContaining("*.log") },
        { path: "tmp/", rule: expect.stringContaining("tmp/") },
      ]),
    );
  });

  test("uses .runtimeignore instead of .gitignore when both exist", async () => {
    const { packed } = await plan({ ".gitignore": "dist/\n", ".runtimeignore": "*.map\n", "dist/index.js": "", "dist/index.js.map": "" });
    expect(packed).toContain("dist/index.js");
    expect(packed).not.toContain("dist/index.js.map");
  });

  test("includes only metadata and the files that package.json lists", async () => {
    const { packed } = await plan({ "package.json": '{"name":"shop","files":["dist"]}', "dist/index.js": "", "src/index.ts": "" });
    expect(packed).toEqual(["dist/index.js", "manifest.yaml", "package.json"]);
  });

  test("includes the entrypoint even when .gitignore excludes it", async () => {
    const files = { "manifest.yaml": `${manifest}entrypoint: dist/index.html\n`, ".gitignore": "dist/\n", "dist/index.html": "" };
    expect((await plan(files)).packed).toContain("dist/index.html");
  });

  test("excludes earlier archives of the same package", async () => {
    const { packed, excluded } = await plan({ "team-shop-0.9.0.tgz": "", "other-1.0.0.tgz": "" });
    expect(excluded).toEqual(["team-shop-0.9.0.tgz"]);
    expect(packed).toContain("other-1.0.0.tgz");
  });

  test("rejects a folder with more files than an archive can contain", async () => {
    const many = Array.from({ length: usualLimits.archiveEntries }, (_, index) => ({ name: `f${index}`, isFolder: false }));
    const folder = memoryFolder("shop", { "manifest.yaml": manifest });
    const large = { ...folder, list: async () => [...many, { name: "manifest.yaml", isFolder: false }] };
    await expect(planFolder(large, "worker", signal)).rejects.toThrow(/The folder has more than [\d,]+ files/);
  });

  test("rejects with the reason of its signal when the signal is aborted", async () => {
    const folder = memoryFolder("shop", { "manifest.yaml": manifest });
    await expect(planFolder(folder, "worker", AbortSignal.abort(new Error("left the page")))).rejects.toThrow("left the page");
  });
});

test("createArchive names the archive after the package name and version", async () => {
  const folder = memoryFolder("any", { "manifest.yaml": manifest, "index.js": "" });
  const packageArchive = await createArchive({ kind: "folder", folder }, "worker", signal);
  expect(packageArchive).toMatchObject({ filename: "team-shop-1.0.0.tgz", fileCount: 2, excluded: [], facts: { name: "@team/shop" } });
});

test("chosenFolder lists files and folders with relative paths", async () => {
  const files = ["shop/manifest.yaml", "shop/dist/a/x.js", "shop/dist/y.js"].map((webkitRelativePath) =>
    Object.assign(new File([webkitRelativePath], "file"), { webkitRelativePath }),
  );
  const folder = chosenFolder(files);
  expect(folder.name).toBe("shop");
  expect(await folder.list("")).toEqual([
    { name: "manifest.yaml", isFolder: false },
    { name: "dist", isFolder: true },
  ]);
  expect(await folder.list("dist")).toEqual([
    { name: "a", isFolder: true },
    { name: "y.js", isFolder: false },
  ]);
  expect(await (await folder.open("dist/a/x.js"))?.text()).toBe("shop/dist/a/x.js");
  expect(await folder.open("dist")).toBeUndefined();
});
