import { describe, expect, test } from "vitest";
import { toApps } from "../../../src/cpanel/pages/apps/app.js";
import { compareVersions } from "../../../src/cpanel/pages/apps/deployments/compare-versions.js";
import { diffParts, mostDifferences } from "../../../src/cpanel/pages/apps/deployments/line-diff.js";
import { installedAt, timelineOf } from "../../../src/cpanel/pages/apps/deployments/timeline.js";
import type { FileApi } from "../../../src/cpanel/pages/files/file-operations.js";

const linesOf = (before: string, after: string) =>
  diffParts(before, after)?.map((part) => part.map(({ kind, text }) => `${{ same: " ", added: "+", removed: "-" }[kind]}${text}`));

const long = (word: string) => Array.from({ length: mostDifferences }, (_, index) => `${word} ${index}`).join("\n");

describe("diffParts", () => {
  test("returns no part for equal texts", () => {
    expect(diffParts("a\nb", "a\nb")).toEqual([]);
  });

  test("returns changed, added and removed lines with their line numbers", () => {
    expect(linesOf("a\nb\nc", "a\nx\nc\nd")).toEqual([[" a", "-b", "+x", " c", "+d"]]);
    expect(diffParts("a\nb", "b")?.[0]).toEqual([
      { kind: "removed", text: "a", before: 1, after: undefined },
      { kind: "same", text: "b", before: 2, after: 1 },
    ]);
    expect(linesOf("", "a")).toEqual([["-", "+a"]]);
  });

  test("keeps 3 equal lines around each difference, and omits the other equal lines", () => {
    const lines = Array.from({ length: 30 }, (_, index) => String(index));
    const changed = lines.with(5, "x").with(25, "y");
    expect(linesOf(lines.join("\n"), changed.join("\n"))).toEqual([
      [" 2", " 3", " 4", "-5", "+x", " 6", " 7", " 8"],
      [" 22", " 23", " 24", "-25", "+y", " 26", " 27", " 28"],
    ]);
  });

  test("returns differences from which both texts can be restored after random edits", () => {
    let seed = 7;
    const random = (below: number) => (seed = (seed * 48_271) % 2_147_483_647) % below;
    for (let round = 0; round < 200; round += 1) {
      const text = () => Array.from({ length: random(12) }, () => "abc"[random(3)]).join("\n");
      const [before, after] = [text(), text()];
      const lines = (diffParts(before, after) ?? []).flat();
      if (before === after) expect(lines).toEqual([]);
      for (const { kind, text: line, before: old, after: now } of lines) {
        if (kind !== "added") expect(before.split("\n")[(old ?? 0) - 1]).toBe(line);
        if (kind !== "removed") expect(after.split("\n")[(now ?? 0) - 1]).toBe(line);
      }
    }
  });

  test("returns undefined for texts with more than the maximum of different lines", () => {
    expect(diffParts(long("a"), long("b"))).toBeUndefined();
  });
});

/** A files API with these texts by path. */
function apiOf(texts: Readonly<Record<string, string>>): FileApi {
  const list = ({ query: { path = "" } }: { query: { path?: string | undefined } }) => {
    const names = Object.keys(texts).filter((text) => text.startsWith(`${path}/`));
    const below = new Map(names.map((text) => [text.slice(path.length + 1).split("/")[0] ?? "", text]));
    const entries = [...below].map(([name, text]) => {
      const isDirectory = text !== `${path}/${name}`;
      return { name, path: `${path}/${name}`, isDirectory, size: isDirectory ? 0 : (texts[text] ?? "").length, updatedAt: 0 };
    });
    return Promise.resolve({ success: true, data: { path, entries } });
  };
  const download = ({ query: { path } }: { query: { path: string } }) =>
    Promise.resolve({
      etag: undefined,
      async *[Symbol.asyncIterator]() {
        yield await Promise.resolve(new TextEncoder().encode(texts[path]));
      },
    });
  return { list, download } as unknown as FileApi;
}

const compare = (texts: Record<string, string>) => compareVersions(apiOf(texts), "w/shop/1", "w/shop/2", new AbortController().signal);

describe("compareVersions", () => {
  test("finds added, removed and changed files, even if the size is unchanged", async () => {
    const { files, equal, unread } = await compare({
      "w/shop/1/index.js": "one",
      "w/shop/2/index.js": "two",
      "w/shop/1/same.js": "same",
      "w/shop/2/same.js": "same",
      "w/shop/1/lib/old.js": "old",
      "w/shop/2/lib/new.js": "newer",
      "w/shop/1/node_modules/a/index.js": "a",
    });
    expect(files.map(({ path, kind }) => [path, kind])).toEqual([
      ["index.js", "changed"],
      ["lib/new.js", "added"],
      ["lib/old.js", "removed"],
    ]);
    expect([equal, unread]).toEqual([1, 0]);
  });

  test("does not assume that binary files of the same size are equal", async () => {
    const { files, equal, unread } = await compare({ "w/shop/1/a.bin": "\0a", "w/shop/2/a.bin": "\0b" });
    expect([files, equal, unread]).toEqual([[], 0, 1]);
  });
});

describe("timelineOf", () => {
  test("returns the latest installation first, and versions without a time last", () => {
    const [app] = toApps([
      {
        name: "shop",
        path: "/srv/shop",
        removable: true,
        source: "uploaded",
        versions: ["3.0.0", "2.0.0", "1.0.0"],
        disabledVersions: [],
        installs: { "1.0.0": { at: 300, by: "ci", via: "cli" } },
        deploys: { "2.0.0": { at: 200, digest: "0".repeat(64) } },
      },
    ]);
    if (!app) throw new Error("no app");
    expect(timelineOf(app).map((installed) => [installed.version, installedAt(app, installed)])).toEqual([
      ["1.0.0", 300],
      ["2.0.0", 200],
      ["3.0.0", undefined],
    ]);
  });
});
