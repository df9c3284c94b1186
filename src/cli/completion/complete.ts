import type { Context, GlobalFlags } from "../command.js";
import { readEnvironment } from "../environment.js";
import type { CommandModules } from "../load-command.js";
import { Output } from "../output.js";
import { printable } from "../printable.js";
import { openTerminal } from "../terminal.js";
import { candidatesFor } from "./candidates.js";

/** Somebody has pressed a key and waits. */
const longestMs = 300;

/**
 * Prints what could stand in the place of the last word, a line each; for all but bash with a tab and a description behind it. Says nothing
 * of failures: whoever types has asked nothing. Never asks, and ends in time.
 */
export async function complete([shell, ...words]: readonly string[], modules: CommandModules): Promise<void> {
  const environment = readEnvironment(process.env);
  const terminal = openTerminal(environment, true);
  const output = new Output({ ...terminal, writeStdout: () => undefined, writeStderr: () => undefined }, { format: "plain", quiet: true });
  const context: Context = {
    environment,
    output,
    terminal,
    workingDirectory: process.cwd(),
    onExit: () => undefined,
    flags: connectionFlags(words.slice(0, -1)),
    signal: AbortSignal.timeout(longestMs),
  };
  // Also where something waits that no signal ends, such as a name server.
  setTimeout(() => process.exit(), longestMs).unref();
  const found = await candidatesFor(context, words, modules).catch(() => []);
  const typed = words.at(-1) ?? "";
  const lines = found
    .filter(({ value }) => value === ":files" || (value.startsWith(typed) && isPlain(value)))
    .map(({ value, description }) => (shell === "bash" || description === undefined ? value : `${value}\t${printable(description)}`));
  if (lines.length > 0) terminal.writeStdout(`${lines.join("\n")}\n`);
}

/** Names come from servers and files: what a shell or a terminal could obey is left out. */
function isPlain(value: string): boolean {
  return /^[\w@/.,:=+-]+$/.test(value);
}

/** Of what is on the line already, what says where the daemon is. */
function connectionFlags(words: readonly string[]): GlobalFlags {
  const valueOf = (...names: readonly string[]) => {
    const index = words.findLastIndex((word) => names.includes(word));
    return index === -1 ? undefined : words[index + 1];
  };
  const given = { profile: valueOf("-p", "--profile"), url: valueOf("--url"), keyFile: valueOf("--key-file"), cacert: valueOf("--cacert") };
  const known = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  return { ...known, color: false, input: false, timeout: `${longestMs}ms` };
}
