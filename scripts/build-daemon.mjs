// Bundles the daemon and the programs that it starts. Without bundles, Node.js would need most of the start time to find, read and compile
// hundreds of files.
import { readFile } from "node:fs/promises";
import { build, transform } from "esbuild";

/** Packages that contain native code or a separate program. */
const notBundled = ["better-sqlite3", "esbuild", "koffi", "libsql"];

/** Removes comments and white space from packages. Our own code keeps its lines, so that stack traces name them. */
const compactPackages = {
  name: "compact-packages",
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path: file }) => {
      const { code } = await transform(await readFile(file, "utf8"), { minifyWhitespace: true, minifySyntax: true });
      return { contents: code };
    });
  },
};

/** Builds the programs. `options` are esbuild options that all builds share. */
export async function buildDaemon(options) {
  const programs = { ...options, bundle: true, external: notBundled, plugins: [compactPackages] };
  // Variables that CommonJS packages expect in each file. ES modules do not have these variables.
  const banner = {
    js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url), __filename = import.meta.filename;",
  };
  await build({
    ...programs,
    splitting: true,
    chunkNames: "server/[name]-[hash]",
    entryPoints: ["main", "dev-daemon", "quick-start", "backup/main"].map((name) => `src/server/${name}.ts`),
    banner,
  });
  // The program that each upload starts. Code that the program rarely needs is in separate chunks.
  await build({
    ...programs,
    splitting: true,
    chunkNames: "server/packages/archive/[name]-[hash]",
    entryPoints: ["src/server/packages/archive/main.ts"],
    banner,
  });
  // Programs that can read only their own folder, or that share no code with other programs.
  await build({
    ...programs,
    entryPoints: [
      "platform/spawner/main",
      "workers/isolate/main",
      "workers/sandbox/main",
      "workers/typescript/main",
      "workers/data/measure/main",
      "access/replica/syncer/main",
      "access/replica/syncer/parent-watch",
    ].map((name) => `src/server/${name}.ts`),
  });
}
