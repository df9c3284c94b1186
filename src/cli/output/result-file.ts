import { closeSync, openSync, writeSync } from "node:fs";
import path from "node:path";
import { usageError } from "../command/command-error.js";
import type { Redactor } from "./redactor.js";
import { printableJson } from "./sanitize-for-terminal.js";

/**
 * The file named by RUNTIMECTL_OUTPUT_FILE, which gets one line of JSON per result or error. The content does not depend on the output
 * format, and never includes API keys.
 */
export class ResultFile {
  readonly #descriptor: number;
  readonly #command: string;
  readonly #redactor: Redactor;

  private constructor(descriptor: number, command: string, redactor: Redactor) {
    this.#descriptor = descriptor;
    this.#command = command;
    this.#redactor = redactor;
  }

  /** Opens the result file before the command runs. If the file is not writable, the command fails before it changes anything. */
  static open(
    file: string,
    { workingDirectory, command, redactor }: { workingDirectory: string; command: string; redactor: Redactor },
  ): ResultFile {
    try {
      return new ResultFile(openSync(path.resolve(workingDirectory, file), "a", 0o600), command, redactor);
    } catch (error) {
      throw usageError(`RUNTIMECTL_OUTPUT_FILE: ${file} cannot be written: ${(error as NodeJS.ErrnoException).code}`);
    }
  }

  append(outcome: { readonly result: unknown } | { readonly error: unknown }): void {
    const line = printableJson({ command: this.#command, time: new Date().toISOString(), ...outcome });
    writeSync(this.#descriptor, `${this.#redactor.redact(line)}\n`);
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}
