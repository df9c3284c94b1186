import { realpath } from "node:fs/promises";
import path from "node:path";
import { build, type Plugin } from "esbuild";
import type { CompileResult } from "./compile-job.js";

/**
 * Compiles a TypeScript entrypoint and what it imports to one module with an inline source map. Nothing outside of the package folder
 * goes in. The problem is esbuild's first message.
 */
export async function bundleTypeScript(folder: string, file: string): Promise<CompileResult> {
  const root = await realpath(folder);
  try {
    const result = await build({
      absWorkingDir: root,
      entryPoints: [path.join(root, file)],
      outfile: path.join(root, "bundle.mjs"),
      write: false,
      bundle: true,
      format: "esm",
      platform: "node",
      target: `node${process.versions.node}`,
      sourcemap: "inline",
      sourcesContent: false,
      tsconfigRaw: {},
      logLevel: "silent",
      // Modules find their own files, and CommonJS ones `require`, as if the entrypoint ran unbundled.
      banner: {
        js: `import { createRequire as __createRequire } from "node:module"; const __entryUrl = new URL(${JSON.stringify(`./app/${file}`)}, import.meta.url).href; const require = __createRequire(__entryUrl);`,
      },
      define: { "import.meta.url": "__entryUrl" },
      plugins: [containedIn(root)],
    });
    return { text: (result.outputFiles[0] as { text: string }).text };
  } catch (error) {
    return { problem: firstMessage(error, root) };
  }
}

function containedIn(root: string): Plugin {
  return {
    name: "contained",
    setup(plugged) {
      plugged.onLoad({ filter: /.*/, namespace: "file" }, async ({ path: file }) => {
        const real = await realpath(file);
        if (real.startsWith(root + path.sep)) return undefined;
        return { errors: [{ text: "An import leads out of the package folder." }] };
      });
    },
  };
}

function firstMessage(error: unknown, root: string): string {
  const first = (error as { errors?: { text: string; location?: { file: string; line: number } | null }[] }).errors?.[0];
  if (!first) return "The compiler gave no reason.";
  const place = first.location ? `${first.location.file}:${first.location.line}: ` : "";
  return `${place}${first.text}`.replaceAll(`${root}/`, "").split("\n", 1)[0]?.slice(0, 1000) ?? "";
}
