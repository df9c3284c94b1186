import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { StoredVersion } from "../../../../src/server/packages/package-store.js";
import { withStoredVersions, type ParsedManifests } from "../../../../src/server/packages/stored-folders.js";
import { WorkerManifest } from "../../../../src/shared/worker-manifest.js";
import { temporaryDirectory } from "../../../support/temporary-directory.js";

function stored(version: string, fields: Record<string, unknown>): StoredVersion {
  return { name: "shop", version, digest: `sha256:${"0".repeat(64)}`, format: "tar", enabled: true, fields };
}

describe("versions that exist in the index but not as folders", () => {
  test("share one manifest when their fields are equal", async () => {
    const folder = path.join(await temporaryDirectory(), "shop");
    const parsed: ParsedManifests = new Map();

    const two = [stored("1.0.0", { entrypoint: "a.js" }), stored("2.0.0", { entrypoint: "a.js" })];
    const versions = withStoredVersions(folder, [], two, parsed);
    const [other] = withStoredVersions(folder, [], [stored("3.0.0", { entrypoint: "b.js" })], parsed);

    expect(versions.map(({ version, manifest }) => [version, manifest.entrypoint])).toEqual([
      ["1.0.0", "a.js"],
      ["2.0.0", "a.js"],
    ]);
    expect(versions[0]?.manifest).toBe(versions[1]?.manifest);
    expect(other?.manifest.entrypoint).toBe("b.js");
  });

  test("are listed with a problem when their fields are invalid", async () => {
    const folder = path.join(await temporaryDirectory(), "shop");

    const versions = withStoredVersions(folder, [], [stored("1.0.0", { entrypoint: 7 }), stored("2.0.0", { entrypoint: 7 })], new Map());

    expect(versions.map(({ problem }) => typeof problem)).toEqual(["string", "string"]);
  });
});

describe("a downloaded folder", () => {
  const digest = `sha256:${"0".repeat(64)}`;

  test.each([
    ["shared while the index has the version", [stored("1.0.0", {})], undefined],
    ["local when the index has lost the version", [], true],
  ])("is %s", async (_name, index, isLocal) => {
    const folder = path.join(await temporaryDirectory(), "shop");
    const version = path.join(folder, "1.0.0");
    await mkdir(version, { recursive: true });
    await writeFile(path.join(version, ".installed.json"), JSON.stringify({ digest }));
    const found = { name: "shop", version: "1.0.0", enabled: true, folder: version, identity: "", manifest: WorkerManifest.parse({}) };

    expect(withStoredVersions(folder, [found], index, new Map()).map((each) => each.isLocal)).toEqual([isLocal]);
  });
});
