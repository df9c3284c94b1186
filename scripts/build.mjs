// Compiles src/ to dist/: the daemon and the command line as bundles so that they start fast, each built-in plugin as one file that stands
// alone, since the daemon imports copies of it; and to build/ the daemon's modules one by one. Does nothing when nothing has changed since.
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildCli, buildReference } from "./build-cli.mjs";
import { buildDaemon } from "./build-daemon.mjs";
import { buildPanel } from "./build-panel.mjs";
import { inputDigest } from "./input-digest.mjs";
import { writeClientDeclarations } from "./write-client-declarations.mjs";
import { writeDeclarations } from "./write-declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = path.join(root, "dist");
const modules = path.join(root, "build");
const shared = {
  absWorkingDir: root,
  outbase: "src",
  outdir: dist,
  format: "esm",
  platform: "node",
  target: "node24",
  sourcemap: true,
  logLevel: "warning",
};

// Written when everything else is there.
const digestFile = path.join(modules, "input-digest");
const digest = await inputDigest(root);
if (existsSync(dist) && (await readFile(digestFile, "utf8").catch(() => "")) === digest) process.exit();

for (const directory of [dist, modules]) await rm(directory, { recursive: true, force: true });
await buildDaemon(shared);
// Node reads the nearest package.json of a module; an isolate may read no other folder than that of its program.
for (const folder of ["isolate", "sandbox"])
  await writeFile(path.join(dist, "server/workers", folder, "package.json"), '{ "type": "module" }\n');
// Bundled, so that a plugin's folder and a project of types alone need no package beside this one.
await build({ ...shared, bundle: true, entryPoints: ["src/plugin/index.ts"] });
// For browsers, too.
await build({ ...shared, bundle: true, platform: "neutral", minify: true, entryPoints: ["src/client/index.ts"] });
// For tests, benchmarks and the docs, which run single modules as Node runs them; not part of the package.
await build({ ...shared, outdir: modules, entryPoints: ["src/shared/**/*.ts", "src/server/**/*.ts"] });
await buildCli(path.join(dist, "cli"));
await buildReference(path.join(modules, "cli"));
await writeDeclarations(path.join(root, "src/plugin"), path.join(dist, "plugin"));
const { contract } = await import("../build/shared/contract/index.js");
await writeClientDeclarations(root, path.join(dist, "client"), contract);

await cp(path.join(root, "builtin"), path.join(dist, "builtin"), { recursive: true });
await build({
  ...shared,
  outbase: undefined,
  outdir: undefined,
  sourcemap: false,
  bundle: true,
  entryPoints: ["src/gateway/plugin.ts"],
  outfile: path.join(dist, "builtin/plugins/plugin-gateway/plugin.js"),
});

await buildPanel(root, path.join(dist, "builtin/workers/cpanel"));

const swaggerUi = path.dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
await mkdir(path.join(dist, "docs-ui"), { recursive: true });
for (const file of ["swagger-ui.css", "swagger-ui-bundle.js"]) await cp(path.join(swaggerUi, file), path.join(dist, "docs-ui", file));

await writeFile(digestFile, digest);
