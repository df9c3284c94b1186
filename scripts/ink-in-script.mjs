// What esbuild does to Ink for the bundle of the dashboard.
import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const inFull = Symbol("in full");

/**
 * Lets Ink be in a script that has no top-level await: its layout engine is waited for by whoever draws first (`loadYoga`), and what
 * it does for its own developers is left out. The engine's WebAssembly becomes a file: as text in the script it would be fetched as a
 * data URL, for which Node loads all that its fetch needs. Three of its ways are shortened, with the same outcome: the width of text
 * that has a column for each character and the change from one style to the same one, which Ink asks for at every cell of the screen;
 * and the cells of a line are kept for the next frame, in which it is mostly the same.
 */
export const inkInScript = {
  name: "ink-in-script",
  setup(plugin) {
    const namespace = "yoga";
    const yoga = path.join(root, "node_modules/yoga-layout/dist");
    const outputDirectory = plugin.initialOptions.outdir;
    plugin.onResolve({ filter: /^yoga-layout(\/load)?$/ }, () => ({ path: "yoga", namespace }));
    plugin.onLoad({ filter: /./, namespace }, () => ({
      resolveDir: yoga,
      contents: `
        import { readFileSync } from "node:fs";
        import load from "./binaries/yoga-wasm-base64-esm.js";
        import wrap from "./src/wrapAssembly.js";
        import constants from "./src/generated/YGEnums.js";
        export * from "./src/generated/YGEnums.js";
        const Yoga = { ...constants };
        export default Yoga;
        export const loadYoga = async () => Object.assign(Yoga, wrap(await load({ wasmBinary: readFileSync(__dirname + "/yoga.wasm") })));
      `,
    }));
    plugin.onLoad({ filter: /\/yoga-wasm-base64-esm\.js$/ }, async ({ path: file }) => {
      const text = await readFile(file, "utf8");
      const [all, base64] = /"data:application\/octet-stream;base64,([A-Za-z0-9+/=]{1000,})"/.exec(text);
      await writeFile(path.join(outputDirectory, "yoga.wasm"), Buffer.from(base64, "base64"));
      return { contents: text.replace(all, '""') };
    });
    plugin.onResolve({ filter: /^string-width$/ }, ({ pluginData }) =>
      pluginData === inFull ? undefined : { path: "string-width", namespace: "quick-width" },
    );
    plugin.onResolve({ filter: /^string-width-in-full$/ }, () =>
      plugin.resolve("string-width", { resolveDir: root, kind: "import-statement", pluginData: inFull }),
    );
    plugin.onLoad({ filter: /./, namespace: "quick-width" }, () => ({
      resolveDir: root,
      contents: `
        const colors = /\\u001b\\[[0-9;]*m/g;
        const oneColumnEach = /^[\\x20-\\x7e\\xa1-\\xac\\xae-\\xff\\u2026\\u2192\\u2500-\\u257f]*$/;
        export default function stringWidth(text, options) {
          const bare = text.includes("\\u001b") ? text.replace(colors, "") : text;
          return oneColumnEach.test(bare) ? bare.length : require("string-width-in-full").default(text, options);
        }
      `,
    }));
    plugin.onLoad({ filter: /\/ansi-tokenize\/build\/diff\.js$/ }, async ({ path: file }) => ({
      contents: exchanged(
        await readFile(file, "utf8"),
        "const endCodesInTo",
        "if (from.length === to.length && from.every(({ code }, index) => code === to[index].code)) return [];\nconst endCodesInTo",
      ),
    }));
    plugin.onLoad({ filter: /\/ink\/build\/output\.js$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replace("caches = new OutputCaches();", "caches = keptCaches();").concat(`
          const mostLines = 5000;
          let kept = new OutputCaches();
          function keptCaches() {
            if (kept.styledChars.size > mostLines) kept = new OutputCaches();
            return kept;
          }
        `),
    }));
    plugin.onLoad({ filter: /\/ink\/build\/(reconciler|ink)\.js$/ }, async ({ path: file }) => ({
      contents: (await readFile(file, "utf8")).replaceAll("isDev()", "false"),
    }));
  },
};

/** The text with one part exchanged, which must be there: another version of the package wants to be looked at. */
function exchanged(text, from, to) {
  if (!text.includes(from)) throw new Error(`${from} is not there any more`);
  return text.replace(from, to);
}
