import type { GlobalFlags } from "./command.js";

/** Those that scripts write most, as the parser would read them. */
const plainFlags: Readonly<Record<string, Partial<GlobalFlags>>> = {
  "--json": { json: true },
  "--plain": { plain: true },
  "--header": { header: true },
  "--quiet": { quiet: true },
  "-q": { quiet: true },
  "--no-color": { color: false },
  "--no-input": { input: false },
};

/** The flags of a line on which nothing else stands; undefined for any other. To load the parser takes a tenth of an empty Node's start. */
export function simpleFlags(words: readonly string[]): GlobalFlags | undefined {
  if (!words.every((word) => Object.hasOwn(plainFlags, word))) return undefined;
  return Object.assign({ color: true, input: true }, ...words.map((word) => plainFlags[word])) as GlobalFlags;
}
