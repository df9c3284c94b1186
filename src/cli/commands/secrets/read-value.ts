import { readFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { secretValueProblem } from "../../../shared/secret-name.js";
import { usageError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import { askSecret } from "../../output/prompts.js";

/** Reads a local file, or standard input if `file` is `-`. Throws a usage error if the file cannot be read. */
export async function readTextFile({ io, workingDirectory }: Context, file: string): Promise<string> {
  if (file === "-") return text(io.stdin);
  return readFile(path.resolve(workingDirectory, file), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`${file} cannot be read (${error.code ?? error.message})`);
  });
}

/**
 * Reads the value of a secret from a file, from a prompt if stdin is a terminal, or from standard input. Removes one line break at the end.
 */
export async function readSecretValue(context: Context, name: string, fromFile: string | undefined): Promise<string> {
  const value = await readGivenValue(context, name, fromFile);
  assertSecretValue(name, value);
  return value;
}

async function readGivenValue(context: Context, name: string, fromFile: string | undefined): Promise<string> {
  if (fromFile === undefined && context.terminal.stdinIsTty) return askSecret(context, `Value of ${name}`, "--from-file FILE");
  return (await readTextFile(context, fromFile ?? "-")).replace(/\r?\n$/, "");
}

/** Throws a usage error if a text cannot be the value of a secret. The error never contains the text. */
export function assertSecretValue(name: string, value: string): void {
  const problem = secretValueProblem(value);
  if (problem !== undefined) throw usageError(`the value of ${name} ${problem}`);
}
