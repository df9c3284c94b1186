import path from "node:path";
import type { Location, Message } from "esbuild";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import { packageNameOf } from "../../shared/installed-package.js";

/** Maximum number of compiler errors that a message contains. */
const shownProblems = 10;
const notBundled = { code: "BUNDLE_FAILED", message: "the code cannot be bundled; nothing was uploaded" };

type Problem = Pick<Message, "text"> & Partial<Pick<Message, "location">>;

/** Converts a compiler error to a CommandError with file, line, column and excerpt. */
export function bundleFailure(error: unknown, root: string, { code, message } = notBundled): CommandError {
  const problems = (error as { errors?: readonly Problem[] }).errors ?? [{ text: error instanceof Error ? error.message : String(error) }];
  const left = problems.length - shownProblems;
  return new CommandError(code, message, {
    exitCode: exitCodes.failed,
    details: [...problems.slice(0, shownProblems).flatMap((problem) => linesOf(problem, root)), ...(left > 0 ? [`and ${left} more`] : [])],
    hint: hintFor(problems),
  });
}

function linesOf({ text, location }: Problem, root: string): string[] {
  const sentence = text.replaceAll(`${root}${path.sep}`, "");
  return location ? [`${location.file}:${location.line}:${location.column + 1}: ${sentence}`, ...excerptOf(location)] : [sentence];
}

/** Returns a faulty line of code with its number, and a second line that marks the fault. */
export function excerptOf({ line, column, lineText, length }: Location): string[] {
  // Shows only a part of a long line, because minified code has very long lines.
  const start = Math.max(0, column - 60);
  const shown = lineText.slice(start, start + 120);
  const number = String(line);
  return [
    `  ${number} | ${shown.replaceAll("\t", " ")}`,
    `  ${" ".repeat(number.length)} | ${" ".repeat(column - start)}${"^".repeat(Math.max(1, Math.min(length, shown.length - (column - start))))}`,
  ];
}

function hintFor(problems: readonly Problem[]): string | undefined {
  const unresolved = problems.flatMap(({ text }) => /^Could not resolve "([^"]+)"/.exec(text)?.[1] ?? []);
  const [first] = unresolved;
  if (first === undefined) return undefined;
  const packages = [...new Set(unresolved.flatMap((specifier) => packageNameOf(specifier) ?? []))];
  if (packages.length > 0) return `npm install ${packages.join(" ")}`;
  if (/^[a-z]+:/.test(first)) return `${first} is a module of another runtime; workers run on Node.js`;
  return `${first} does not exist; check the spelling, including upper and lower case`;
}
