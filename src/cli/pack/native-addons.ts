import { access } from "node:fs/promises";
import path from "node:path";
import type { Plugin } from "esbuild";
import { bundleFailure } from "./bundle-failure.js";

/**
 * Returns an esbuild plugin that rejects imports of native addons. Checks the extension `.node` only on resolved files, because names of
 * modules and packages can also end in `.node`.
 */
export function refuseAddons(root: string): Plugin {
  return {
    name: "refuse-addons",
    setup(build) {
      build.onLoad({ filter: /\.node$/, namespace: "file" }, ({ path: file }) => ({
        errors: [{ text: nativeAddon(path.relative(root, file)) }],
      }));
    },
  };
}

/** Rejects packages that compute the path of a native addon at run time, because the compiler detects only addons with a fixed path. */
export async function refuseAddonPackages(root: string, inputs: readonly string[]): Promise<void> {
  const folders = new Set(inputs.flatMap((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0] ?? []));
  for (const folder of folders) {
    const isAddon = await access(path.join(root, folder, "binding.gyp")).then(
      () => true,
      () => false,
    );
    if (isAddon) throw bundleFailure({ errors: [{ text: nativeAddon(folder.slice(folder.lastIndexOf("node_modules/") + 13)) }] }, root);
  }
}

function nativeAddon(name: string): string {
  return (
    `${name} is a native addon, which cannot be bundled. Use a package with only JavaScript or WebAssembly, ` +
    "or pack the package with --external and set permissions: [addons]."
  );
}
