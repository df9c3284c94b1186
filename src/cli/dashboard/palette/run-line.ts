import { helpStyleOf } from "../../command/help-layout.js";
import { matchCommand } from "../../command/find-command.js";
import type { Context } from "../../command/command.js";
import { commandModules, loadCommand } from "../../command/command-registry.js";
import { reportFailure } from "../../command/failure.js";
import { chosenFields } from "../../output/output-format.js";
import { Output } from "../../output/output.js";
import { parseCommand } from "../../command/parse-command.js";
import { refuseSecrets } from "../../command/secret-in-arguments.js";
import { usageError } from "../../command/command-error.js";
import { capturingTerminal } from "../capturing-terminal.js";

/** Commands that cannot run inside the dashboard, because they use the whole terminal. */
const notHere = new Set(["tui", "dev"]);
const wordPattern = /\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)/y;

export interface LineOutcome {
  readonly lines: readonly string[];
  readonly exitCode: number;
}

interface RunOptions {
  readonly signal: AbortSignal;
  /** Whether screen reader mode is active. Because output then stays in the terminal, the palette rejects commands that print a new key. */
  readonly isAccessible: boolean;
}

/**
 * Runs a runtimectl command line with the session's profile and returns the output. The command can ask for confirmation only through
 * `context.confirm`.
 */
export async function runLine(line: string, context: Context, { signal, isAccessible }: RunOptions): Promise<LineOutcome> {
  let written = "";
  const write = (text: string | Uint8Array) => (written += typeof text === "string" ? text : Buffer.from(text).toString("utf8"));
  const terminal = capturingTerminal(context, write);
  const cleanUps: (() => void)[] = [];
  let output = new Output(terminal, { format: "table" });
  let exitCode = 0;
  try {
    const given = splitWords(line.replace(/^\s*(?:runtimectl\s+)?/, ""));
    refuseSecrets(given);
    const found = matchCommand(given);
    const style = helpStyleOf(terminal);
    if (found.kind === "help") write(`${found.text(style)}\n`);
    else if (found.kind !== "command" || notHere.has(found.words))
      throw usageError(`${line.trim()}: the command does not exist or is not available in the dashboard`, "runtimectl help");
    else if (isAccessible && makesKey(found.words) && !found.rest.some((word) => /^(?:-o|--out)/.test(word)))
      throw usageError(
        "a command that prints a new API key cannot run in screen reader mode, because the key would stay visible",
        "add --out FILE",
      );
    else {
      const definition = await loadCommand(found.words, commandModules);
      const parsed = parseCommand({ ...found, definition }, found.rest, { style, onHelp: write });
      if (parsed) {
        const flags = { ...context.flags, ...parsed.flags, input: false, color: false };
        output = new Output(terminal, {
          format: flags.json ? "json" : "table",
          fields: chosenFields(given),
          quiet: flags.quiet ?? false,
        });
        const code = await definition.run(
          { ...context, flags, output, terminal, signal, onExit: (cleanUp) => void cleanUps.push(cleanUp) },
          parsed.invocation,
        );
        exitCode = code ?? 0;
      }
    }
  } catch (error) {
    exitCode = reportFailure(error, output);
  } finally {
    for (const cleanUp of cleanUps.toReversed()) cleanUp();
  }
  return { lines: written.replace(/\n$/, "").split("\n"), exitCode };
}

function makesKey(words: string): boolean {
  return words === "keys create" || words === "keys rotate";
}

/** Splits a command line into words as a shell does. Supports quotes, but no expansion. Throws a usage error for an unclosed quote. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  const text = line.trimEnd();
  for (let position = 0; position < text.length; position = wordPattern.lastIndex) {
    wordPattern.lastIndex = position;
    const [, found] = wordPattern.exec(text) ?? [];
    if (found === undefined) throw usageError("the command line contains an unclosed quotation mark");
    words.push(found.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  }
  return words;
}
