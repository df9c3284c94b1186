import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { CompressedFiles } from "../../../../../src/server/workers/static/compressed-files.js";
import { FileVariants } from "../../../../../src/server/workers/static/file-variants.js";
import { readStaticFile, StaticCache, type StaticFile } from "../../../../../src/server/workers/static/static-file.js";
import type { WorkerExchange } from "../../../../../src/server/workers/engine/worker-exchange.js";

const requestBelow = (base: string) => ({ request: { headers: {} }, address: { base, path: "/app.js" } }) as unknown as WorkerExchange;

/** Returns the variants of a site with one script, a function that reads the script, and the paths whose existence was checked. */
async function siteWith(script: string) {
  const root = await mkdtemp(path.join(tmpdir(), "variants-"));
  onTestFinished(() => rm(root, { recursive: true }));
  await writeFile(path.join(root, "app.js"), script);
  const checked: string[] = [];
  const variants = new FileVariants({
    cache: new StaticCache(),
    compressed: new CompressedFiles(path.join(root, "compressed")),
    injection: { base: "rewrite", variables: {} },
    contains: (file) => {
      checked.push(file);
      return Promise.resolve(file === "a.png");
    },
  });
  const folder = { root, generation: "1", marksOf: () => ({ headers: [], isImmutable: false }) };
  const read = async () => (await readStaticFile(folder, path.join(root, "app.js"))) as StaticFile;
  return { variants, read, checked };
}

test("FileVariants scans a script for URLs once, for all requests and base paths", async () => {
  const { variants, read, checked } = await siteWith('["/a.png","/b.png"]');
  const make = async (base: string) => (await variants.make(requestBelow(base), await read())).body?.toString();
  const bodies = await Promise.all(Array.from({ length: 10 }, () => make("/app")));
  expect(new Set(bodies)).toEqual(new Set(['["/app/a.png","/b.png"]']));
  expect(await make("/app@1.0.0")).toBe('["/app@1.0.0/a.png","/b.png"]');
  expect(checked.toSorted()).toEqual(["a.png", "b.png"]);
  expect(variants.inMemory(requestBelow("/app"), await read())?.body?.toString()).toBe(bodies[0]);
});

test("FileVariants returns a script without site URLs unchanged from memory", async () => {
  const { variants, read } = await siteWith('["/b.png"]');
  const file = await read();
  expect(variants.inMemory(requestBelow("/app"), file)).toBeUndefined();
  expect(await variants.make(requestBelow("/app"), file)).toBe(file);
  for (const base of ["/app", "/app@1.0.0", ""]) expect(variants.inMemory(requestBelow(base), file)).toBe(file);
});
