import path from "node:path";
import { parseEnv } from "node:util";
import { usageError } from "../command/command-error.js";
import { readFileIfThere } from "../config/read-file-if-there.js";

/** Where wrangler's users keep them; never packed. */
const usualFile = ".dev.vars";

/** Variables for the worker beside those of its manifest: of `.dev.vars` in the folder, then of the file given. */
export function readDevVariables(folder: string, given: string | undefined): Record<string, string> {
  const usual = readFileIfThere(path.join(folder, usualFile));
  const text = given === undefined ? undefined : readFileIfThere(given);
  if (given !== undefined && text === undefined) throw usageError(`--vars-file: ${given} is not there`);
  return { ...parsed(usual), ...parsed(text) };
}

function parsed(text: string | undefined): Record<string, string> {
  return text === undefined ? {} : (parseEnv(text) as Record<string, string>);
}
