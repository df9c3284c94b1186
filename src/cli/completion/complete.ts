import { setTimeout as delay } from "node:timers/promises";
import type { Context, GlobalFlags } from "../command/command.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import type { CommandModules } from "../command/command-registry.js";
import { Output } from "../output/output.js";
import { sanitizeForTerminal } from "../output/sanitize-for-terminal.js";
import { candidatesFor } from "./candidates.js";

/** Time limit for a completion. The limit is short, because the user waits for the candidates after each press of Tab. */
const longestMs = 300;

/**
 * Prints the candidates for the last word, one per line. For zsh and fish, adds a tab and a description. Never prompts. Prints no errors,
 * which would disturb the command line. Returns within `longestMs`.
 */
export async function complete(
  [shell, ...words]: readonly string[],
  surroundings: Omit<Context, "flags" | "output">,
  modules: CommandModules,
): Promise<ExitCode> {
  const { terminal } = surroundings;
  const signal = AbortSignal.any([surroundings.signal, AbortSignal.timeout(longestMs)]);
  const output = new Output({ ...terminal, writeStdout: () => undefined, writeStderr: () => undefined }, { format: "plain", quiet: true });
  const context = { ...surroundings, output, flags: connectionFlags(words.slice(0, -1)), signal };
  const candidates = candidatesFor(context, words, modules).catch(() => []);
  // Also stops waiting when the time limit ends, because some operations, such as a DNS lookup, do not stop when the signal aborts.
  const found = await Promise.race([candidates, delay(longestMs, [])]);
  const typed = words.at(-1) ?? "";
  const lines = found
    .filter(({ value }) => value === ":files" || (value.startsWith(typed) && isPlain(value)))
    .map(({ value, description }) =>
      shell === "bash" || description === undefined ? value : `${value}\t${sanitizeForTerminal(description)}`,
    );
  if (lines.length > 0) terminal.writeStdout(`${lines.join("\n")}\n`);
  return exitCodes.ok;
}

/** Whether a candidate is safe to print. Servers and files can contain names with control sequences for the shell or terminal. */
function isPlain(value: string): boolean {
  return /^[\w@/.,:=+-]+$/.test(value);
}

/** Returns the values of the connection flags in the words already typed. */
function connectionFlags(words: readonly string[]): GlobalFlags {
  const valueOf = (...names: readonly string[]) => {
    const index = words.findLastIndex((word) => names.includes(word));
    return index === -1 ? undefined : words[index + 1];
  };
  const given = { profile: valueOf("-p", "--profile"), url: valueOf("--url"), keyFile: valueOf("--key-file"), cacert: valueOf("--cacert") };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...known, color: false, input: false, timeout: `${longestMs}ms` };
}
