import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const bundles = fileURLToPath(new URL("../../../dist/server", import.meta.url));

// V8 stores a source text with two bytes per character if one character is above U+00FF. A single "\u2026" in a comment has cost 1.5 MB.
test("the daemon's bundles contain no character that doubles their size in memory", () => {
  const files = readdirSync(bundles).filter((file) => file.endsWith(".js"));
  expect(files).toContain("main.js");
  const wide = files.flatMap((file) =>
    [...readFileSync(path.join(bundles, file), "utf8").matchAll(/[\u0100-\uFFFF]/g)].map(
      ({ 0: character, index, input }) => `${file}: ${character} in ${input.slice(Math.max(0, index - 40), index + 40)}`,
    ),
  );
  expect(wide).toEqual([]);
});
