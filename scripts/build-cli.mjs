// Bundles runtimectl: a small program, and one chunk per command that the program loads on demand.
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
  // Packages that are not bundled: esbuild is a separate program, and Ink loads `react-devtools-core` only in its development mode.
  external: ["esbuild", "react-devtools-core"],
  define: { "process.env.NODE_ENV": '"production"' },
  // Variables that CommonJS packages expect in each file. ES modules do not have these variables.
  banner: {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url), __filename = import.meta.filename;",
  },
  logLevel: "warning",
};

export async function buildCli(outputDirectory) {
  await buildEntry("src/cli/main.ts", outputDirectory);
}

/** Builds the program that generates the command reference. The published package does not contain the program. */
export async function buildReference(outputDirectory) {
  await buildEntry("src/cli/command/reference.ts", outputDirectory);
}

async function buildEntry(entryPoint, outputDirectory) {
  await build({ ...bundle, splitting: true, entryPoints: [entryPoint], outdir: outputDirectory, chunkNames: "[name]-[hash]" });
}
