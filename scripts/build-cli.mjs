// Bundles the command line: a small entry, and a chunk per command that is loaded on demand.
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const root = fileURLToPath(new URL("..", import.meta.url));

const bundle = {
  absWorkingDir: root,
  bundle: true,
  minify: true,
  charset: "ascii",
  platform: "node",
  format: "esm",
  target: "node24",
  // esbuild is a separate program. Ink loads the other package only in its development mode.
  external: ["esbuild", "react-devtools-core"],
  define: { "process.env.NODE_ENV": '"production"' },
  // Variables that CommonJS packages expect in each file.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url), __filename = import.meta.filename;",
  },
  logLevel: "warning",
};

export async function buildCli(outputDirectory) {
  await buildEntry("src/cli/main.ts", outputDirectory);
}

/** Builds the generator of the command reference, which is not part of the package. */
export async function buildReference(outputDirectory) {
  await buildEntry("src/cli/command/reference.ts", outputDirectory);
}

async function buildEntry(entryPoint, outputDirectory) {
  await build({ ...bundle, splitting: true, entryPoints: [entryPoint], outdir: outputDirectory, chunkNames: "[name]-[hash]" });
}
