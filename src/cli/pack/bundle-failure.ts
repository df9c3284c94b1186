import path from "node:path";
import type { Location, Message } from "esbuild";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

/** More would hide the first ones. */
const shownProblems = 10;
const notBundled = { code: "BUNDLE_FAILED", message: "the code cannot be bundled; nothing was uploaded" };

type Problem = Pick<Message, "text"> & Partial<Pick<Message, "location">>;

/** What the compiler found, with file, line, column and the line itself. */
export function bundleFailure(error: unknown, root: string, { code, message } = notBundled): CommandError {
  const problems = (error as { errors?: readonly Problem[] }).errors ?? [{ text: error instanceof Error ? error.message : String(error) }];
  const left = problems.length - shownProblems;
  return new CommandError(code, message, {
    exitCode: exitCodes.failed,
    details: [...problems.slice(0, shownProblems).flatMap((problem) => linesOf(problem, root)), ...(left > 0 ? [`and ${left} more`] : [])],
    hint: hintFor(problems),
  });
}

/** Why code that loads machine code cannot be bundled, nor run. */
export function nativeAddon(name: string): string {
  return `${name} is a native addon: workers run JavaScript and WebAssembly only, so it could not be loaded. Use a package without one.`;
}

function linesOf({ text, location }: Problem, root: string): string[] {
  const sentence = text.replaceAll(`${root}${path.sep}`, "");
  return location ? [`${location.file}:${location.line}:${location.column + 1}: ${sentence}`, ...excerptOf(location)] : [sentence];
}

/** The line at fault with its number, and below it a mark. */
export function excerptOf({ line, column, lineText, length }: Location): string[] {
  // Minified code has lines that nobody wants to see whole.
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
  const packages = [...new Set(unresolved.flatMap((specifier) => packageOf(specifier) ?? []))];
  if (packages.length > 0) return `npm install ${packages.join(" ")}`;
  if (/^[a-z]+:/.test(first)) return `${first} belongs to another runtime; workers run on Node`;
  return `${first} is not there; look at its spelling and capitals`;
}

/** The package that a bare specifier names; undefined for paths, and for modules that come with a runtime. */
function packageOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}
