// Bundles the daemon and the programs that it starts, so that they start fast: to find, read and compile hundreds of files takes Node
// longer than all that they do until the daemon answers.
import { readFile } from "node:fs/promises";
import { build, transform } from "esbuild";

/** Native code, or a program of its own. */
const notBundled = ["better-sqlite3", "esbuild", "koffi", "libsql"];

/** Packages without what only their readers need; our own lines stay as they are, for the stack of an error to name them. */
const compactPackages = {
  name: "compact-packages",
  setup(plugin) {
    plugin.onLoad({ filter: /[\\/]node_modules[\\/].*\.[cm]?js$/ }, async ({ path: file }) => {
      const { code } = await transform(await readFile(file, "utf8"), { minifyWhitespace: true, minifySyntax: true });
      return { contents: code };
    });
  },
};

/** `options` are those of every build. */
export async function buildDaemon(options) {
  const programs = { ...options, bundle: true, external: notBundled, plugins: [compactPackages] };
  // What packages that are CommonJS find in each of their files.
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
  // What every upload waits for: one file, and what it seldom needs in files of their own.
  await build({
    ...programs,
    splitting: true,
    chunkNames: "server/packages/archive/[name]-[hash]",
    entryPoints: ["src/server/packages/archive/main.ts"],
    banner,
  });
  // Each may read its own folder only, or has nothing in common with the others.
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
