// Generates pages of docs/reference/ from the code (--write), or fails if they are out of date (--check).
import { mkdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { apiReference, configurationReference, errorReference, manifestReference, permissionReference } from "./references.mjs";
import { compatibilityReference } from "./compatibility.mjs";
import { referencePage as runtimectlReference } from "../build/cli/reference.js";

const directory = fileURLToPath(new URL("../docs/reference/", import.meta.url));
const pages = {
  "api.md": apiReference(),
  "compatibility.md": await compatibilityReference(),
  "configuration.md": configurationReference(),
  "errors.md": errorReference(),
  "manifest.md": manifestReference(),
  "permissions.md": permissionReference(),
  "runtimectl.md": await runtimectlReference(),
};

const drifted = [];
await mkdir(directory, { recursive: true });
for (const [name, text] of Object.entries(pages)) {
  const file = path.join(directory, name);
  if (process.argv.includes("--write")) await writeFile(file, text);
  else if ((await readFile(file, "utf8").catch(() => "")) !== text) drifted.push(`docs/reference/${name}`);
}
if (drifted.length > 0) {
  console.error(`${drifted.join(", ")} no longer fit the code; run: npm run docs:write`);
  process.exitCode = 1;
}
