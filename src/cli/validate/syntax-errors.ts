import { readFile } from "node:fs/promises";
import path from "node:path";
import type { Loader, TransformFailure } from "esbuild";
import type { CommandError } from "../command/command-error.js";
import { bundleFailure, excerptOf } from "../pack/bundle-failure.js";
import type { PackedFile, PackPlan } from "../pack/pack-plan.js";
import type { Problem } from "./problem.js";

/** Maximum number of files that are parsed. The limit keeps the check fast. */
const mostFiles = 1000;
const loaders: Readonly<Record<string, Loader>> = {
  ".js": "js",
  ".mjs": "js",
  ".cjs": "js",
  ".jsx": "jsx",
  ".ts": "ts",
  ".mts": "ts",
  ".cts": "ts",
  ".tsx": "tsx",
};

interface SyntaxError {
  readonly file: string;
  readonly failure: TransformFailure;
}

/** Returns the first syntax error in the files, with its position, which Node.js does not report. Undefined if all files can be parsed. */
export async function findSyntaxError(folder: string, files: readonly PackedFile[]): Promise<CommandError | undefined> {
  for await (const { failure } of syntaxErrors(files))
    return bundleFailure(failure, folder, { code: "SYNTAX_ERROR", message: "the code has a syntax error" });
  return undefined;
}

/**
 * Returns an error for a syntax error in the entrypoint, and warnings for syntax errors in other files. Skips static sites, because their
 * scripts run only in browsers.
 */
export async function findSyntaxProblems({ facts, files }: PackPlan): Promise<Problem[]> {
  const { entrypoint, pluginEntry } = facts;
  const isModule = pluginEntry !== undefined || (entrypoint !== undefined && path.extname(entrypoint) in loaders);
  const problems: Problem[] = [];
  if (!isModule) return problems;
  for await (const { file, failure } of syntaxErrors(files)) {
    const severity = file === entrypoint || file === pluginEntry ? "error" : "warning";
    const [{ text, location } = { text: failure.message, location: null }] = failure.errors;
    const place = location ? { line: location.line, column: location.column + 1, excerpt: excerptOf(location) } : {};
    problems.push({ severity, code: "WORKER_START_FAILED", message: text, file, ...place });
  }
  return problems;
}

async function* syntaxErrors(files: readonly PackedFile[]): AsyncGenerator<SyntaxError> {
  const { transform } = await import("esbuild");
  const modules = files.filter((file) => path.extname(file.path) in loaders && !/(?:^|\/)node_modules\//.test(file.path));
  for (const file of modules.slice(0, mostFiles)) {
    const loader = loaders[path.extname(file.path)] as Loader;
    try {
      await transform(await readFile(file.source, "utf8"), { sourcefile: file.path, logLevel: "silent", loader });
    } catch (error) {
      yield { file: file.path, failure: error as TransformFailure };
    }
  }
}
