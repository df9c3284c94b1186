// Compiles src/ to dist/: the daemon one file to one file, the command line as one bundle so that it starts fast, each built-in plugin
// as one file that stands alone, since the daemon imports copies of it.
import { cp, mkdir, rm } from "node:fs/promises";
import { createRequire } from "node:module";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { buildCli } from "./build-cli.mjs";
import { writeDeclarations } from "./write-declarations.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = path.join(root, "dist");
const shared = {
  absWorkingDir: root,
  outbase: "src",
  outdir: dist,
  format: "esm",
  platform: "node",
  target: "node20.19",
  sourcemap: true,
  logLevel: "warning",
};

await rm(dist, { recursive: true, force: true });
await build({ ...shared, entryPoints: ["src/shared/**/*.ts", "src/server/**/*.ts", "src/plugin/*.ts"] });
await buildCli(path.join(dist, "cli"));
await writeDeclarations(path.join(root, "src/plugin"), path.join(dist, "plugin"));

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

const swaggerUi = path.dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
await mkdir(path.join(dist, "docs-ui"), { recursive: true });
for (const file of ["swagger-ui.css", "swagger-ui-bundle.js"]) await cp(path.join(swaggerUi, file), path.join(dist, "docs-ui", file));
