import { readFile, realpath } from "node:fs/promises";
import path from "node:path";
import { build, formatMessages, type Message, type Plugin } from "esbuild";
import { textLoaders, wasmModule, withClassicJsx } from "../../../shared/bundled-files.js";
import { packageFolders, parseInstalledPackage, type InstalledPackage } from "../../../shared/installed-package.js";
import { buildWithOptional, type BundleOptions } from "../../../shared/optional-imports.js";
import { InvalidTsconfig, jsxMode, readTsconfig, tsconfigWarnings } from "../../../shared/tsconfig.js";
import type { CompileProblem, CompileResult } from "./compile-job.js";
import { isPathWithin } from "../../platform/path-within.js";

const leadsOut = { text: "An import refers to a file outside of the package folder." };
/** Matches the comment with a source map in JavaScript or CSS. The URL ends at white space, as in esbuild. */
const comment = /sourceMappingURL=(\S*)/g;
/**
 * Maximum number of tsconfig.json files that one compilation reads. In a hostile package, each file could extend several others. Usual
 * packages need fewer than 20.
 */
const mostConfigReads = 500;
const codePattern = /\.[cm]?[jt]sx?$/;
/** Matches a path without characters that esbuild would decode. */
const plainPath = /^[\w./-]+$/;

/**
 * Compiles a TypeScript entrypoint and its imports into one module with a source map. Rejects an import from outside the package folder.
 */
export async function bundleTypeScript(folder: string, file: string): Promise<CompileResult> {
  const root = await realpath(folder);
  try {
    let reads = 0;
    const read = async (each: string) => ((reads += 1) > mostConfigReads ? undefined : await readWithin(root, each));
    const config = await readTsconfig(read, path.posix.normalize(file));
    const options: BundleOptions = {
      absWorkingDir: root,
      entryPoints: [path.join(root, file)],
      outfile: path.join(root, "bundle.mjs"),
      write: false,
      bundle: true,
      format: "esm",
      platform: "node",
      external: ["cloudflare:workers"],
      target: `node${process.versions.node}`,
      sourcemap: "inline",
      sourcesContent: false,
      metafile: true,
      // Passes the settings as an object. Otherwise esbuild would itself read the tsconfig files in `extends`, which can be outside the
      // package.
      tsconfigRaw: { compilerOptions: config?.compilerOptions ?? {} },
      jsx: jsxMode(config),
      loader: textLoaders,
      logLevel: "silent",
      // Gives the bundle the URL and the function `require` of its entrypoint.
      banner: {
        js: `import { createRequire as __createRequire } from "node:module"; const __entryUrl = new URL(${JSON.stringify(`./app/${file}`)}, import.meta.url).href; const require = __createRequire(__entryUrl);`,
      },
      define: { "import.meta.url": "__entryUrl" },
      plugins: [containedIn(root, path.dirname(path.join(root, file)))],
    };
    const result = await buildWithOptional({ build, options, readPackageOf: (module) => readPackageWithin(root, module) });
    return { text: (result.outputFiles[0] as { text: string }).text, warnings: tsconfigWarnings(config) };
  } catch (error) {
    if (error instanceof InvalidTsconfig) return { problem: error.message };
    return problemOf(error, root);
  }
}

/** `entryFolder` is the folder to which `import.meta.url` of the bundle is relative. */
function containedIn(root: string, entryFolder: string): Plugin {
  return {
    name: "contained",
    setup(plugged) {
      // Checks the path here to report a clear message. Otherwise the sandbox would deny the read, and esbuild would report another error.
      plugged.onResolve({ filter: /^\.{0,2}\// }, ({ resolveDir, path: imported }) =>
        isPathWithin(path.resolve(resolveDir, imported), root) ? undefined : { errors: [leadsOut] },
      );
      plugged.onLoad({ filter: /.*/, namespace: "file" }, async ({ path: file }) => {
        const real = await realpath(file);
        if (!isPathWithin(real, root)) return { errors: [leadsOut] };
        if (file.endsWith(".wasm")) return { contents: wasmModule(path.relative(entryFolder, file), "import.meta.url"), loader: "js" };
        if (path.extname(file) in textLoaders) return undefined;
        const text = await readFile(real, "utf8");
        const code = await withoutForeignSourceMaps(text, file, root);
        const contents = codePattern.test(file) ? withClassicJsx(code) : code;
        return contents === text ? undefined : { contents, loader: "default" };
      });
    },
  };
}

/** Returns the text of a file in the package. Returns undefined if it is missing or outside the package. */
async function readWithin(root: string, file: string): Promise<string | undefined> {
  const whole = path.join(root, file);
  const real = isPathWithin(whole, root) ? await realpath(whole).catch(() => undefined) : undefined;
  if (real === undefined || !isPathWithin(real, root)) return undefined;
  return await readFile(real, "utf8").catch(() => undefined);
}

/** Returns the package.json for a module. Returns undefined if this file is outside the package folder. */
async function readPackageWithin(root: string, module: string): Promise<InstalledPackage | undefined> {
  for (const folder of packageFolders(module)) {
    const text = await readWithin(root, path.join(path.relative(root, folder), "package.json"));
    if (text !== undefined) return parseInstalledPackage(text);
  }
  return undefined;
}

/** Returns the first message of esbuild with file and line as `problem`, and all messages as `report`. */
async function problemOf(error: unknown, root: string): Promise<CompileProblem> {
  const errors = (error as { errors?: Message[] }).errors ?? [];
  const [first] = errors;
  // If esbuild has returned no message, it was killed because it exceeded a limit.
  if (!first) return { problem: "The compiler exceeded its time or memory limit.", tookTooMuch: true };
  const withoutRoot = (text: string) => text.replaceAll(`${root}/`, "");
  const { location, text } = first;
  // Finds messages about files outside the package, which must not reach the response or the log.
  const isOutside = (message: Message) => message.location !== null && !isPathWithin(path.resolve(root, message.location.file), root);
  if (errors.some(isOutside)) return { problem: leadsOut.text };
  const place = location ? `${location.file}:${location.line}:${location.column + 1}: ` : "";
  // Omits the source line from errors of the plugin `contained`.
  const line = location?.lineText.trim() && first.pluginName === "" ? ` in: ${location.lineText.trim().slice(0, 200)}` : "";
  const report = (await formatMessages(errors, { kind: "error" })).join("").trimEnd();
  return { problem: withoutRoot(`${place}${text}${line}`).split("\n", 1)[0]?.slice(0, 1000) ?? "", report: withoutRoot(report) };
}

/**
 * Removes references to source maps outside `root`, because esbuild reads them itself and quotes them in errors. Keeps data URLs and
 * references within the package.
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
