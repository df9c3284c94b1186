// The control panel as a built-in worker: pages and scripts beside its manifest in dist/builtin/workers/cpanel.
import { cp, mkdir } from "node:fs/promises";
import path from "node:path";
import { build } from "vite";

/** Browsers of 2024 and later, which support `light-dark()` and nested rules. */
const target = ["chrome123", "edge123", "firefox121", "safari17.5"];

/** Groups of modules, one for each joined chunk. A later chunk does not contain the code of an earlier chunk. */
const joinedChunks = {
  // Modules that load before the sign-in.
  panel: ["main.ts"],
  // Modules of the first screen after the sign-in.
  shell: ["layout/shell.tsx", "pages/overview/overview.tsx", "pages/plugins/plugin-menus.tsx"],
};

/** `root` is the folder of the package, `outDir` that of the worker. Files in `outDir` are kept. */
export async function buildPanel(root, outDir) {
  const source = path.join(root, "src/cpanel");
  const options = {
    root: source,
    configFile: false,
    // Relative URLs: the page has a `<base>` element.
    base: "./",
    publicDir: false,
    logLevel: "warn",
    plugins: [withoutZod(root), chartLocale],
  };
  const output = {
    target,
    cssTarget: target,
    sourcemap: false,
    // The Content-Security-Policy of the pages does not allow images in data URLs.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
  };
  const { output: chunks } = await build({ ...options, build: { ...output, write: false, minify: false } });
  const groups = groupsOf(source, chunks);
  await build({
    ...options,
    build: { ...output, outDir, emptyOutDir: false, rolldownOptions: { output: { codeSplitting: { groups } } } },
  });
  await copyLicenses(root, outDir);
}

/**
 * uPlot formats numbers for the language of the browser when it is loaded, and fails in browsers whose language is not a valid tag, such as
 * `en-US@posix`. The panel formats all numbers for `en-GB`.
 */
const chartLocale = {
  name: "chart-locale",
  transform(code, id) {
    if (!/\/uplot\/dist\/.*js$/.test(id)) return null;
    if (!code.includes("nav.language")) throw new Error("uPlot reads the language in another way: adapt scripts/build-panel.mjs");
    return { code: code.replaceAll("nav.language", '"en-GB"'), map: null };
  },
};

/** Typefaces, icons and the editor are published with their licenses. */
async function copyLicenses(root, outDir) {
  const licenses = path.join(outDir, "licenses");
  await mkdir(licenses, { recursive: true });
  await cp(path.join(root, "src/cpanel/licenses/lucide.txt"), path.join(licenses, "lucide.txt"));
  for (const name of ["inter", "jetbrains-mono"])
    await cp(path.join(root, `node_modules/@fontsource-variable/${name}/LICENSE`), path.join(licenses, `${name}.txt`));
  await cp(path.join(root, "node_modules/@codemirror/view/LICENSE"), path.join(licenses, "codemirror.txt"));
}

/** Replaces zod in the contract by a small module that checks the types of responses. */
function withoutZod(root) {
  const replaced = [
    path.join(root, "src/shared/contract/"),
    path.join(root, "src/shared/deployment.ts"),
    path.join(root, "src/shared/installation.ts"),
  ];
  return {
    name: "without-zod",
    enforce: "pre",
    resolveId(source, importer) {
      const isZod = source === "zod" || source === "zod/mini";
      if (!isZod || !replaced.some((start) => importer?.startsWith(start))) return null;
      return path.join(root, "src/cpanel/response-schemas.ts");
    },
  };
}

/**
 * Joins all modules that a chunk of `joinedChunks` needs into one script and one style sheet. Otherwise, each module that several sections
 * share is a request of its own: 15 at the sign-in page (Vite 8). `files` come from a build without joined chunks and contain only the
 * imports that remain after Vite has removed unused code.
 */
function groupsOf(source, files) {
  const scripts = new Map(files.filter(({ type }) => type === "chunk").map((chunk) => [chunk.fileName, chunk]));
  const chunkOf = new Map();
  for (const [name, entries] of Object.entries(joinedChunks)) {
    const isEntry = ({ moduleIds }) => entries.some((entry) => moduleIds.includes(path.join(source, entry)));
    // A loop over a Set also visits the elements that the loop adds.
    const needed = new Set([...scripts.values()].filter(isEntry));
    for (const chunk of needed) for (const file of chunk.imports.filter((fileName) => scripts.has(fileName))) needed.add(scripts.get(file));
    const ids = [...needed].flatMap(({ moduleIds }) => moduleIds);
    for (const id of ids.filter((candidate) => !chunkOf.has(candidate))) chunkOf.set(id, name);
  }
  return Object.keys(joinedChunks).map((name) => ({ name, test: (id) => chunkOf.get(id) === name }));
}
