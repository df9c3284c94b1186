// Bundles the command line: one small entry, and a chunk for what each command needs beside it.
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
  // A program of its own beside the JavaScript; and what Ink loads for its own developers only.
  external: ["esbuild", "react-devtools-core"],
  define: { "process.env.NODE_ENV": '"production"' },
  // What packages that are CommonJS find in each of their files.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url), __filename = import.meta.filename;",
  },
  logLevel: "warning",
};

export async function buildCli(outputDirectory) {
  await buildEntry("src/cli/main.ts", outputDirectory);
}

/** The pages of the reference are written from the commands; no part of the package. */
export async function buildReference(outputDirectory) {
  await buildEntry("src/cli/command/reference.ts", outputDirectory);
}

async function buildEntry(entryPoint, outputDirectory) {
  await build({ ...bundle, splitting: true, entryPoints: [entryPoint], outdir: outputDirectory, chunkNames: "[name]-[hash]" });
}
