import { pathToFileURL } from "node:url";

/** Maximum length of a log entry in UTF-16 units. Longer texts are truncated. */
export const longestLogText = 32 * 1024;
const suffixRoom = 64;

/** Returns the text, truncated to `longestLogText`. */
export function cutText(text: string): string {
  if (text.length <= longestLogText) return text;
  const kept = longestLogText - suffixRoom;
  return `${text.slice(0, kept)}… (${text.length - kept} more characters)`;
}

/**
 * Returns a function that makes paths in the output relative to the worker's folder and removes stack frames of the daemon's code. `slot`
 * is the sandbox folder of the isolate, and `program` is the folder of the daemon's code.
 */
export function createPathHider({ slot, program }: { slot: string; program: string }): (text: string) => string {
  const slots = [pathToFileURL(slot).href, slot];
  const programs = [pathToFileURL(program).href, program];
  const ownFrames = new RegExp(`\\n +at [^\\n]*(?:${programs.map(escaped).join("|")})[^\\n]*`, "g");
  return (text) => {
    let shown = text;
    if (programs.some((folder) => shown.includes(folder))) {
      shown = shown.replace(ownFrames, "");
      for (const folder of programs) shown = shown.replaceAll(folder, "runtime:");
    }
    if (!shown.includes(slot) && !shown.includes(slots[0] as string)) return shown;
    for (const folder of slots) {
      for (const known of [`${folder}/app/`, `${folder}/app`, `${folder}/`, folder]) shown = shown.replaceAll(known, "");
    }
    return shown;
  };
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
