// Bundles the daemon and the programs that it starts: finding, reading and compiling hundreds of files takes Node longer than the rest of
// the start.
import { readFile } from "node:fs/promises";
import { build, transform } from "esbuild";

/** Packages with native code or a separate program. */
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

/** `options` are the options of all builds. */
export async function buildDaemon(options) {
  const programs = { ...options, bundle: true, external: notBundled, plugins: [compactPackages] };
  // Variables that CommonJS packages expect in each file.
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
  // The program that each upload starts: one file, and chunks for code that it rarely needs.
  await build({
    ...programs,
    splitting: true,
    chunkNames: "server/packages/archive/[name]-[hash]",
    entryPoints: ["src/server/packages/archive/main.ts"],
    banner,
  });
  // Programs that can read only their own folder, or share no code with the others.
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
