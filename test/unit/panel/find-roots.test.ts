import { expect, test } from "vitest";
import type { FileApi } from "../../../src/cpanel/pages/files/file-operations.js";
import { findRoots } from "../../../src/cpanel/pages/files/find-roots.js";
import { ApiError } from "../../../src/shared/api-error.js";

const page = "apps/shop/files";
const tree: Readonly<Record<string, readonly string[]>> = {
  "": ["first", "second", ".shipped"],
  first: ["shop", "@team"],
  "first/shop": ["1.0.0"],
  "first/@team": ["blog"],
  second: ["other"],
  "second/other": [],
  ".shipped": ["gateway"],
  ".shipped/gateway": [],
};

/** Lists the folders of `tree`. Records requests for missing folders, because browsers log a line for each of them. */
function openFiles(hasMore: readonly string[] = []) {
  const files = { missed: [] as string[] };
  const list = async ({ query: { path = "" } }: { query: { path?: string } }) => {
    const names = tree[path];
    if (!names) {
      files.missed.push(path);
      throw new ApiError("PATH_NOT_FOUND", `There is nothing at ${path}.`);
    }
    const shown = hasMore.includes(path) ? [] : names;
    const entries = shown.map((name) => ({ name, path: path === "" ? name : `${path}/${name}` }));
    return Promise.resolve({ data: { path, entries, ...(hasMore.includes(path) && { hasMore: true }) } });
  };
  return { files, api: { list } as unknown as FileApi };
}

test.each([
  ["shop", false, ["first/shop"]],
  ["@team/blog", false, ["first/@team/blog"]],
  ["other", false, ["second/other"]],
  ["gateway", true, [".shipped/gateway"]],
  ["nothing", false, []],
])("findRoots finds the folders of the package %s without listing a missing folder", async (name, isBuiltIn, roots) => {
  const { files, api } = openFiles();
  expect(await findRoots(api, { kind: "workers", name, isBuiltIn, page })).toEqual(roots);
  expect(files.missed).toEqual([]);
});

test("findRoots finds a package folder that a truncated list does not contain", async () => {
  const { api } = openFiles(["first"]);
  expect(await findRoots(api, { kind: "workers", name: "shop", isBuiltIn: false, page })).toEqual(["first/shop"]);
});
