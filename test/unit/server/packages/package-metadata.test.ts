import { mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { readPackageMetadata } from "../../../../src/server/packages/package-metadata.js";
import { parseWorkerManifest } from "../../../../src/server/packages/worker-version.js";
import { run, writeFiles } from "../../../support/pack-archive.js";

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "metadata-"));
});
afterEach(() => rm(folder, { recursive: true }));

async function read(files: Readonly<Record<string, string>>) {
  await writeFiles(folder, files);
  return readPackageMetadata(folder);
}

describe("package metadata", () => {
  test("is read from manifest.yaml before manifest.yml; package.json supplies defaults", async () => {
    const metadata = await read({
      "manifest.yaml": "name: from-yaml\ntimeout: 5s\nversion:\n",
      "manifest.yml": "name: from-yml\nversion: 9.9.9\n",
      "package.json": '{"name":"from-json","version":"1.2.3","enabled":false,"timeout":"9s","memory":"64mb"}',
    });
    expect(metadata).toMatchObject({ name: "from-yaml", version: "1.2.3", enabled: false, fields: { timeout: "5s", memory: "64mb" } });
  });

  test("is read from manifest.yml when manifest.yaml does not exist", async () => {
    expect(await read({ "manifest.yml": "name: '@team/app'\n" })).toMatchObject({ name: "@team/app", version: "latest", enabled: true });
  });

  test("is read from package.json when no manifest exists", async () => {
    expect(await read({ "package.json": '{"name":"app","version":"2.0.0-beta.1+b7"}' })).toMatchObject({
      name: "app",
      version: "2.0.0-beta.1+b7",
    });
  });

  test("is undefined in a folder without metadata files", async () => {
    expect(await read({ "index.html": "" })).toBeUndefined();
  });

  test("can contain a byte order mark, comments and Windows line endings", async () => {
    expect(await read({ "manifest.yaml": "\ufeff# ours\r\nname: app\r\nenabled: false\r\n" })).toMatchObject({
      name: "app",
      enabled: false,
    });
    expect(await read({ "manifest.yaml": "# nothing\n", "package.json": '\ufeff{"name":"app"}' })).toMatchObject({ name: "app" });
  });
});

const laughs = [
  "a: &a [x,x,x,x,x,x,x,x,x]",
  ..."bcdefghi".split("").map((key, index) => `${key}: &${key} [${Array(9).fill(`*${"abcdefgh"[index]}`).join(",")}]`),
];
const named = "name: app\n";

const refused: readonly [what: string, files: Record<string, string>, code: string, message?: RegExp][] = [
  ["no name", { "manifest.yaml": "version: 1.0.0\n" }, "MISSING_PACKAGE_NAME"],
  ["a null name", { "manifest.yaml": "name: ~\n" }, "MISSING_PACKAGE_NAME"],
  ["a number as name", { "manifest.yaml": "name: 12\n" }, "MISSING_PACKAGE_NAME"],
  ["a list as name", { "manifest.yaml": "name: [a]\n" }, "MISSING_PACKAGE_NAME"],
  ["an empty name", { "manifest.yaml": "name: ''\n" }, "MISSING_PACKAGE_NAME"],
  ...["..", ".hidden", "A", "a/b", "@a", "@/b", "@a/../b", "a b", "a\\\\b", "%2e%2e", "_x", "a\\0b", "x".repeat(215)].map(
    (name): [string, Record<string, string>, string] => [
      `the name ${name.slice(0, 20)}`,
      { "manifest.yaml": `name: "${name}"\n` },
      "INVALID_PACKAGE_NAME",
    ],
  ),
  [
    "a version that YAML parses as a number",
    { "manifest.yaml": `${named}version: 1.10\n` },
    "INVALID_PACKAGE_VERSION",
    /1\.10 .*in quotes.*"1\.10\.0"/,
  ],
  ["a version that is a whole number", { "manifest.yaml": `${named}version: 2\n` }, "INVALID_PACKAGE_VERSION", /"2\.0\.0"/],
  ...["../1", "1/2", ".", "", "1.0", "v1.0.0", "1.0.0\\n", "01.0.0", `1.0.0-${"x".repeat(300)}`, "Latest"].map(
    (version): [string, Record<string, string>, string] => [
      `the version ${version.slice(0, 20)}`,
      { "manifest.yaml": `${named}version: "${version}"\n` },
      "INVALID_PACKAGE_VERSION",
    ],
  ),
  ["a list as version", { "package.json": '{"name":"app","version":["1.0.0"]}' }, "INVALID_PACKAGE_VERSION"],
  ['enabled: "false"', { "manifest.yaml": `${named}enabled: "false"\n` }, "INVALID_PACKAGE_METADATA", /without quotes/],
  ["enabled: no", { "manifest.yaml": `${named}enabled: no\n` }, "INVALID_PACKAGE_METADATA"],
  ["enabled: 0", { "manifest.yaml": `${named}enabled: 0\n` }, "INVALID_PACKAGE_METADATA"],
  [
    "a manifest of 540 KB",
    { "manifest.yaml": Array.from({ length: 50_000 }, (_, index) => `key${index}: 1`).join("\n") },
    "INVALID_PACKAGE_METADATA",
    /64 KiB/,
  ],
  ["8,000 keys", { "manifest.yaml": Array.from({ length: 7000 }, (_, index) => `k${index}: 1`).join("\n") }, "INVALID_PACKAGE_METADATA"],
  ["60,000 lines", { "manifest.yaml": "\n".repeat(60_000) + named }, "INVALID_PACKAGE_METADATA"],
  ["a duplicate key", { "manifest.yaml": `${named}name: b\n` }, "INVALID_PACKAGE_METADATA", /"name" twice/],
  ["exponential aliases", { "manifest.yaml": `${named}${laughs.join("\n")}\n` }, "INVALID_PACKAGE_METADATA"],
  ["a list that contains itself", { "manifest.yaml": `${named}list: &list [1, *list]\n` }, "INVALID_PACKAGE_METADATA", /contains itself/],
  ["brackets 60,000 deep", { "manifest.yaml": "[".repeat(60_000) }, "INVALID_PACKAGE_METADATA"],
  ["dashes 30,000 deep", { "manifest.yaml": "- ".repeat(30_000) }, "INVALID_PACKAGE_METADATA"],
  ["mappings 15,000 deep", { "manifest.yaml": "{a: ".repeat(15_000) }, "INVALID_PACKAGE_METADATA"],
  ["anchors 15,000 deep", { "manifest.yaml": "[&a ".repeat(15_000) }, "INVALID_PACKAGE_METADATA"],
  ["several documents", { "manifest.yaml": `---\n${named}---\nname: b\n` }, "INVALID_PACKAGE_METADATA", /several/],
  ["a tab as indentation", { "manifest.yaml": `${named}env:\n\tA: 1\n` }, "INVALID_PACKAGE_METADATA"],
  ["an unknown tag", { "manifest.yaml": `${named}env: !thing { A: 1 }\n` }, "INVALID_PACKAGE_METADATA"],
  ["a JavaScript tag", { "manifest.yaml": `${named}x: !!js/function 'function(){}'\n` }, "INVALID_PACKAGE_METADATA"],
  ["a list", { "manifest.yaml": "- name: app\n" }, "INVALID_PACKAGE_METADATA"],
  ["a word", { "manifest.yaml": "app\n" }, "INVALID_PACKAGE_METADATA"],
  ["truncated JSON", { "package.json": '{"name":"app"' }, "INVALID_PACKAGE_METADATA"],
  ["JSON nested 500,000 deep", { "package.json": "[".repeat(500_000) + "]".repeat(500_000) }, "INVALID_PACKAGE_METADATA"],
  ["a JSON list", { "package.json": "[]" }, "INVALID_PACKAGE_METADATA"],
  ["a package.json of 2 MB", { "package.json": `{"name":"app","x":"${"x".repeat(2 * 1024 * 1024)}"}` }, "INVALID_PACKAGE_METADATA"],
];

describe("package metadata that is invalid or hostile", () => {
  test.for(refused)("is rejected within 4 s with the documented error code (fault: %s)", async ([, files, code, message]) => {
    await writeFiles(folder, files);
    const startedAt = performance.now();
    const error = failureOf(() => readPackageMetadata(folder));
    expect(performance.now() - startedAt).toBeLessThan(4_000);
    expect(error).toMatchObject({ code });
    if (message) expect((error as Error).message).toMatch(message);
  });

  test("is rejected when its text is not UTF-8", async () => {
    await writeFile(path.join(folder, "package.json"), Buffer.from('{"name":"app"}', "utf16le"));
    expect(failureOf(() => readPackageMetadata(folder))).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
    await writeFile(path.join(folder, "manifest.yaml"), Buffer.from([0x6e, 0x61, 0xff, 0xfe]));
    expect(failureOf(() => readPackageMetadata(folder))).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
  });

  test("is rejected when its file is a folder, a symbolic link or a named pipe", async () => {
    const manifest = path.join(folder, "manifest.yaml");
    await mkdir(manifest);
    expect(failureOf(() => readPackageMetadata(folder))).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
    await rm(manifest, { recursive: true });
    await symlink("/etc/hostname", manifest);
    expect(failureOf(() => readPackageMetadata(folder))).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
    await rm(manifest);
    await run("mkfifo", [manifest]);
    expect(failureOf(() => readPackageMetadata(folder))).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
  });

  test("is read without the key __proto__", async () => {
    const metadata = await read({
      "manifest.yaml": `${named}__proto__: { polluted: true }\n`,
      "package.json": '{"__proto__":{"polluted":true}}',
    });
    expect(metadata?.name).toBe("app");
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });
});

test("an invalid worker manifest causes an error with the name of the invalid field", async () => {
  const metadata = await read({ "manifest.yaml": `${named}timeout: soon\nentrypoint: ../x\n` });
  const error = failureOf(() => parseWorkerManifest(metadata as NonNullable<typeof metadata>)) as Error;
  expect(error).toMatchObject({ code: "INVALID_PACKAGE_METADATA" });
  expect(error.message).toMatch(/timeout: "soon" is not a duration/);
  expect(error.message).toMatch(/entrypoint: /);
});

function failureOf(work: () => unknown): unknown {
  try {
    work();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}
