import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { build, formatMessages, type Message, type Plugin } from "esbuild";
import type { CompileProblem, CompileResult } from "./compile-job.js";
import { isPathWithin } from "../../platform/path-within.js";

const leadsOut = { text: "An import leads out of the package folder." };
/** A source map comment of JavaScript or CSS. esbuild ends the URL at white space, so the pattern does, too. */
const comment = /sourceMappingURL=(\S*)/g;
/** A path without characters that esbuild decodes. */
const plainPath = /^[\w./-]+$/;

/**
 * Compiles a TypeScript entrypoint and what it imports to one module with an inline source map. Nothing outside of the package folder
 * goes in.
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
    return problemOf(error, root);
  }
}

function containedIn(root: string): Plugin {
  return {
    name: "contained",
    setup(plugged) {
      // In its sandbox esbuild cannot read such a folder, and would report that with another message.
      plugged.onResolve({ filter: /^\.{0,2}\// }, ({ resolveDir, path: imported }) =>
        isPathWithin(path.resolve(resolveDir, imported), root) ? undefined : { errors: [leadsOut] },
      );
      plugged.onLoad({ filter: /.*/, namespace: "file" }, async ({ path: file }) => {
        const real = await realpath(file);
        if (!isPathWithin(real, root)) return { errors: [leadsOut] };
        const text = await readFile(real, "utf8");
        const contents = await withoutForeignSourceMaps(text, file, root);
        return contents === text ? undefined : { contents, loader: "default" };
      });
    },
  };
}

/** esbuild's first message with its place and line; the report has all of them. */
async function problemOf(error: unknown, root: string): Promise<CompileProblem> {
  const errors = (error as { errors?: Message[] }).errors ?? [];
  const [first] = errors;
  // No messages: the compiler's own process was ended.
  if (!first) return { problem: "It took more time or memory than there is for it.", tookTooMuch: true };
  const withoutRoot = (text: string) => text.replaceAll(`${root}/`, "");
  const { location, text } = first;
  // Text from outside of the package must not reach the response or the log.
  const isOutside = (message: Message) => message.location !== null && !isPathWithin(path.resolve(root, message.location.file), root);
  if (errors.some(isOutside)) return { problem: leadsOut.text };
  const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : "";
  // For what our own rules refuse, the place says it all.
  const line = location?.lineText.trim() && first.pluginName === "" ? ` in: ${location.lineText.trim().slice(0, 200)}` : "";
  const report = (await formatMessages(errors, { kind: "error" })).join("").trimEnd();
  return { problem: withoutRoot(`${place}${text}${line}`).split("\n", 1)[0]?.slice(0, 1000) ?? "", report: withoutRoot(report) };
}

/**
 * Returns the text of `file` without references to source maps outside of `root`. esbuild reads these maps itself, not through plugins, and
 * quotes them in its errors. Maps in data URLs and in the package stay.
 */
async function withoutForeignSourceMaps(text: string, file: string, root: string): Promise<string> {
  const foreign = new Set<string>();
  for (const [, url = ""] of text.matchAll(comment)) if (!url.startsWith("data:") && !(await leadsInto(url, file, root))) foreign.add(url);
  if (foreign.size === 0) return text;
  return text.replaceAll(comment, (whole, url: string) =>
    foreign.has(url) ? whole.replace("sourceMappingURL", "sourceMappingUrl") : whole,
  );
}

async function leadsInto(url: string, file: string, root: string): Promise<boolean> {
  if (!plainPath.test(url) || path.isAbsolute(url)) return false;
  const target = await realpath(path.resolve(path.dirname(file), url)).catch(() => undefined);
  return target !== undefined && isPathWithin(target, root);
}
