// The control panel as a built-in worker: pages and scripts beside its manifest in dist/builtin/workers/cpanel.
import path from "node:path";
import { build } from "vite";

/** Browsers of 2024 and later, which support `light-dark()` and nested rules. */
const target = ["chrome123", "edge123", "firefox121", "safari17.5"];

/** `root` is the folder of the package, `outDir` that of the worker. Files in `outDir` are kept. */
export async function buildPanel(root, outDir) {
  const source = path.join(root, "src/cpanel");
  const first = firstScreen(
    ["main.ts", "pages/overview/overview.tsx", "pages/plugins/plugin-menus.tsx"].map((file) => path.join(source, file)),
  );
  await build({
    root: source,
    configFile: false,
    plugins: [first.plugin],
    // Relative URLs: the page has a `<base>` element.
    base: "./",
    publicDir: false,
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: false,
      target,
      cssTarget: target,
      sourcemap: false,
      // The Content-Security-Policy of the pages does not allow images in data URLs.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rolldownOptions: { output: { codeSplitting: { groups: [{ name: "panel", test: first.holds }] } } },
    },
  });
}

/**
 * All that the first screen needs, in one script beside the bundler's own and in one style sheet: else each piece that a section shares with it is a request of its
 * own, 15 at the sign-in page (Vite 8).
 */
function firstScreen(entries) {
  const modules = new Set();
  return {
    holds: (id) => modules.has(id),
    plugin: {
      name: "first-screen",
      buildEnd() {
        const waiting = [...entries];
        for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) {
          if (modules.has(id)) continue;
          modules.add(id);
          waiting.push(...(this.getModuleInfo(id)?.importedIds ?? []));
        }
      },
    },
  };
}
