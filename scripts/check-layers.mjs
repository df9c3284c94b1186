// Checks that the table below allows each import between folders of src, including type imports and import(). Fails with the lines of all
// other imports.
import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import ts from "typescript";

const source = path.join(import.meta.dirname, "../src");

/** The folders that the files of each folder are allowed to import, besides their own. A folder without an entry is an error. */
const layers = {
  shared: [],
  plugin: [],
  client: ["shared"],
  cpanel: ["shared"],
  cli: ["shared"],
  gateway: ["plugin", "shared"],
  "server/platform": ["shared", "server/package-root"],
  "server/log": ["shared"],
  "server/web": ["shared"],
  "server/config": ["shared", "server/package-root", "server/platform", "server/web"],
  "server/events": ["shared", "server/log"],
  "server/storage": [],
  "server/instances": ["shared", "server/config", "server/log", "server/platform", "server/storage"],
  "server/registry": [],
  "server/package-store": ["shared", "server/log", "server/platform", "server/packages", "server/registry", "server/storage"],
  "server/access": ["shared", "server/package-root", "server/config", "server/log", "server/platform", "server/storage", "server/web"],
  "server/hosts": ["shared", "server/storage", "server/web"],
  "server/secrets": ["shared", "server/config", "server/log", "server/platform", "server/storage"],
  "server/packages": ["shared", "server/package-root", "server/log", "server/platform"],
  "server/workers": ["shared", "server/package-root", "server/config", "server/log", "server/platform", "server/storage", "server/web"],
  "server/plugins": ["shared", "plugin", "server/log", "server/packages", "server/web"],
  "server/metrics": ["shared", "plugin", "server/package-root", "server/access", "server/platform", "server/workers"],
  "server/health": ["shared", "server/events", "server/platform"],
  "server/systemd": ["shared", "server/log", "server/platform"],
  "server/backup": [
    "shared",
    "server/package-root",
    "server/access",
    "server/config",
    "server/log",
    "server/package-store",
    "server/packages",
    "server/registry",
    "server/workers",
  ],
  "server/http": [
    "shared",
    "server/package-root",
    "server/access",
    "server/config",
    "server/events",
    "server/log",
    "server/platform",
    "server/web",
  ],
  "server/api": [
    "shared",
    "server/package-root",
    "server/access",
    "server/config",
    "server/health",
    "server/hosts",
    "server/http",
    "server/instances",
    "server/metrics",
    "server/packages",
    "server/platform",
    "server/secrets",
  ],
  /** The entry points, the daemon and the composition root. Files of other folders cannot import them. */
  server: [
    "shared",
    "server/package-root",
    ...[
      "access",
      "api",
      "backup",
      "config",
      "events",
      "health",
      "hosts",
      "http",
      "instances",
      "log",
      "metrics",
      "package-store",
      "packages",
      "platform",
      "plugins",
      "registry",
      "secrets",
      "storage",
      "systemd",
      "web",
      "workers",
    ].map((folder) => `server/${folder}`),
  ],
};

/** Returns the layer of a file. The path is relative to src. */
function layerOf(file) {
  if (file === "server/package-root.ts") return "server/package-root";
  const folders = path.dirname(file).split(path.sep);
  return folders.slice(0, folders[0] === "server" ? 2 : 1).join("/");
}

const entries = await readdir(source, { recursive: true, withFileTypes: true });
const files = entries
  .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
  .map((entry) => path.relative(source, path.join(entry.parentPath, entry.name)));
const faults = [];
for (const file of files) {
  const layer = layerOf(file);
  if (layer !== "server/package-root" && layers[layer] === undefined) faults.push(`src/${file}: the table has no layer ${layer}`);
  const { importedFiles } = ts.preProcessFile(await readFile(path.join(source, file), "utf8"));
  for (const { fileName } of importedFiles) {
    if (!fileName.startsWith(".") || fileName.endsWith(".json")) continue;
    const target = path.join(path.dirname(file), fileName).replace(/\.js$/, ".ts");
    const imported = target.startsWith("..") ? undefined : layerOf(target);
    if (imported !== layer && !layers[layer]?.includes(imported)) faults.push(`src/${file} imports ${fileName}, and ${layer} may not`);
  }
}
if (faults.length > 0) {
  console.error(faults.join("\n"));
  process.exitCode = 1;
}
