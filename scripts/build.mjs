// Compiles src/ to dist/ (bundles of daemon, command line and built-in plugins, for a fast start) and to build/ (single modules).
// Rebuilds only parts whose inputs changed. `--progress` prints each part and its duration.
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

/**
 * The parts of the build in order. Before a part is built, its outputs are deleted. The scripts and the installed packages are inputs of
 * each part.
 */
const parts = [
  {
    name: "the daemon",
    inputs: ["src/server", "src/shared"],
    outputs: ["dist/server"],
    async build() {
      await buildDaemon(shared);
      // Adds a package.json to each folder, because Node.js reads the nearest package.json of a module, and an isolate can read only the
      // folder of its program.
      for (const folder of ["isolate", "sandbox"])
        await writeFile(path.join(dist, "server/workers", folder, "package.json"), '{ "type": "module" }\n');
    },
  },
  {
    // Single modules for tests, benchmarks and the documentation. Not part of the package.
    name: "single modules",
    inputs: ["src/server", "src/shared"],
    outputs: ["build/server", "build/shared"],
    build: () => build({ ...shared, outdir: modules, entryPoints: ["src/shared/**/*.ts", "src/server/**/*.ts"] }),
  },
  {
    name: "the command line",
    inputs: ["src/cli", "src/shared"],
    outputs: ["dist/cli", "build/cli"],
    async build() {
      await buildCli(path.join(dist, "cli"));
      await buildReference(path.join(modules, "cli"));
    },
  },
  {
    name: "types and client",
    inputs: ["src/plugin", "src/client", "src/shared"],
    outputs: ["dist/plugin", "dist/client"],
    async build() {
      // Bundled, so that plugins and TypeScript projects need no further package.
      await build({ ...shared, bundle: true, entryPoints: ["src/plugin/index.ts"] });
      // This export is bundled without Node.js modules, so that browsers can load it.
      await build({ ...shared, bundle: true, platform: "neutral", minify: true, entryPoints: ["src/client/index.ts"] });
      await writeDeclarations(path.join(root, "src/plugin"), path.join(dist, "plugin"));
      const { contract } = await import("../build/shared/contract/index.js");
      await writeClientDeclarations(root, path.join(dist, "client"), contract);
    },
  },
  {
    name: "what is built in",
    inputs: ["src/cpanel", "src/gateway", "src/plugin", "src/shared", "builtin"],
    outputs: ["dist/builtin"],
    async build() {
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
    },
  },
  {
    name: "the page of the API",
    inputs: [],
    outputs: ["dist/docs-ui"],
    async build() {
      const swaggerUi = path.dirname(createRequire(import.meta.url).resolve("swagger-ui-dist/package.json"));
      await mkdir(path.join(dist, "docs-ui"), { recursive: true });
      for (const file of ["swagger-ui.css", "swagger-ui-bundle.js"]) await cp(path.join(swaggerUi, file), path.join(dist, "docs-ui", file));
    },
  },
];

const tell = process.argv.includes("--progress") ? (text) => process.stdout.write(text) : () => undefined;
const digests = path.join(modules, "digests");
await mkdir(digests, { recursive: true });
for (const part of parts) {
  const { name, inputs, outputs } = part;
  // Writes the digest only after the part is complete. After an interruption, the part is built again.
  const digestFile = path.join(digests, name.replaceAll(" ", "-"));
  const digest = await inputDigest(root, inputs);
  const isThere = outputs.every((output) => existsSync(path.join(root, output)));
  if (isThere && (await readFile(digestFile, "utf8").catch(() => "")) === digest) continue;
  tell(`building ${name} … `);
  const startedMs = performance.now();
  await rm(digestFile, { force: true });
  for (const output of outputs) await rm(path.join(root, output), { recursive: true, force: true });
  await part.build();
  await writeFile(digestFile, digest);
  tell(`${((performance.now() - startedMs) / 1000).toFixed(1)} s\n`);
}
