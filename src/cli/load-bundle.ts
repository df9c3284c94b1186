import { readFileSync } from "node:fs";
import path from "node:path";
import { Script } from "node:vm";
import { isQuick } from "./quick-commands.js";
import type * as bundle from "./run-any-command.js";
import type { FoundCommand } from "./find-command.js";

type Bundle = typeof bundle;
type Loadable = Exclude<FoundCommand, { kind: "help" }>;
type BundleFunction = (module: { exports: Bundle }, load: NodeJS.Require, directory: string) => void;

/**
 * Loads the bundled machinery with the code cache that the build left beside it: what V8 compiled once need not be compiled at
 * every start, and Node 20 has nothing built in for this. V8 rejects the cache of another Node version; then the start is slower.
 */
export function loadBundle(found: Loadable): Bundle {
  const name = bundleOf(found);
  const filename = path.join(import.meta.dirname, `${name}.cjs`);
  const cachedData = readIfThere(path.join(import.meta.dirname, `${name}.cache`));
  // The bundle is ASCII: one byte a character, no decoding.
  const script = new Script(readFileSync(filename, "latin1"), { filename, ...(cachedData ? { cachedData } : {}) });
  const module = {} as { exports: Bundle };
  (script.runInThisContext() as BundleFunction)(module, require, import.meta.dirname);
  return module.exports;
}

function bundleOf(found: Loadable): string {
  if (found.kind !== "command") return "run-any-command";
  if (found.words === "tui") return "run-dashboard";
  return isQuick(found.words) ? "run-quick-command" : "run-any-command";
}

function readIfThere(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined;
  }
}
