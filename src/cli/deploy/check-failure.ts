import { readFile } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../shared/api-error.js";
import { checkLogOf } from "../../shared/check-log.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { excerptOf } from "../pack/bundle-failure.js";
import type { PackedFile } from "../pack/pack-plan.js";
import { findSyntaxError } from "../validate/syntax-errors.js";

/** Matches a position in the output of Node.js, such as `at Object.fetch (src/index.ts:3:19)`. */
const positionPattern = /(?:^|[\s(])((?:[\w@.-]+\/)*[\w@.-]+\.[cm]?[jt]sx?):(\d+):(\d+)/g;
/** Texts that occur in error messages of Node.js, each with a hint about the remedy. */
const knownCauses: readonly { readonly text: string; readonly hint: string }[] = [
  {
    text: "process.dlopen is not a function",
    hint: "native addons need permissions: [addons] in the manifest, which the operator of the daemon must allow",
  },
  {
    text: "Stripping types is currently unsupported for files under node_modules",
    hint: "bundle packages that are written in TypeScript: runtimectl deploy --bundle",
  },
];
const packagesPattern = /(?:^|\/)node_modules\//;

interface CheckedPackage {
  readonly folder: string;
  readonly files: readonly PackedFile[];
}

/**
 * Returns the error of an upload. If the daemon's check of the version failed, the error contains the faulty line of code and the worker's
 * last log lines.
 */
export async function checkFailure(error: unknown, checked: CheckedPackage): Promise<unknown> {
  if (!(error instanceof ApiError) || (error.code !== "WORKER_START_FAILED" && error.code !== "WORKER_CHECK_FAILED")) return error;
  const log = checkLogOf(error);
  const frame = error.message.includes("SyntaxError") ? await syntaxFrame(checked) : await codeFrame([error.message, ...log], checked);
  const shownLog = log.length === 0 ? [] : ["the last log lines:", ...log.map((line) => `  ${line}`)];
  return new CommandError(error.code, `${asSentence(error.message.replace(" The worker's log has the reason.", ""))} Nothing changed.`, {
    exitCode: exitCodes.failed,
    details: [...frame, ...shownLog],
    hint: hintFor(error.message),
  });
}

function hintFor(message: string): string {
  return (
    knownCauses.find(({ text }) => message.includes(text))?.hint ??
    "to run the code on this machine, use runtimectl dev; to deploy it without the check, use --no-check"
  );
}

async function syntaxFrame({ folder, files }: CheckedPackage): Promise<readonly string[]> {
  const details = (await findSyntaxError(folder, files))?.details;
  return Array.isArray(details) ? details.map(String) : [];
}

/** Returns the first position in the texts that names a file of the package, and the source line at that position. Skips npm packages. */
async function codeFrame(texts: readonly string[], checked: CheckedPackage): Promise<string[]> {
  for (const text of texts)
    for (const [, file = "", line = "", column = ""] of text.matchAll(positionPattern)) {
      if (packagesPattern.test(file)) continue;
      const lineText = await lineOf(file, Number(line), checked);
      if (lineText === undefined) continue;
      const place = { file, namespace: "file", line: Number(line), column: Number(column) - 1, length: 1, lineText, suggestion: "" };
      return [`${file}:${line}:${column}`, ...excerptOf(place)];
    }
  return [];
}

/** Returns one line of a packed file. For a bundled file, returns the line of a source file in the source map. */
async function lineOf(file: string, line: number, { folder, files }: CheckedPackage): Promise<string | undefined> {
  const source = files.find((each) => each.path === file)?.source ?? path.join(folder, file);
  const text = await readFile(source, "utf8").catch(() => "");
  return text.split("\n")[line - 1];
}

/** Adds a full stop to a text without one, because messages of thrown errors usually have none. */
function asSentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}
