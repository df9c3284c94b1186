// The control panel as a built-in worker: pages and scripts beside its manifest in dist/builtin/workers/cpanel.
import path from "node:path";
import { build } from "vite";

/** Browsers of 2024 and later; `light-dark()` and nesting stay as they are written. */
const target = ["chrome123", "edge123", "firefox121", "safari17.5"];

/** `root` is the folder of the package, `outDir` that of the worker; what lies there stays. */
export async function buildPanel(root, outDir) {
  await build({
    root: path.join(root, "src/cpanel"),
    configFile: false,
    // Relative: the page says where it lies.
    base: "./",
    publicDir: false,
    logLevel: "warn",
    build: {
      outDir,
      emptyOutDir: false,
      target,
      cssTarget: target,
      sourcemap: false,
      // Its text would not pass the policy for images on every page.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
    },
  });
}
