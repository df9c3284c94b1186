import { commandAliases } from "./command-aliases.js";
import type { GlobalFlags } from "./command.js";
import { commandTable } from "./command-table.js";
import { shellWord } from "../output/shell-word.js";

/** First words of the commands on which the connection flags have no effect. */
const local: ReadonlySet<string> = new Set(["completion", "daemon", "dev", "help", "init", "pack", "profile", "validate"]);
/** Regular expression for the first words of all other commands, which connect to a daemon. */
const connected = [...Object.keys(commandTable), ...Object.keys(commandAliases)].filter((word) => !local.has(word)).join("|");
/** Matches a `runtimectl` command in a text. The match ends before the next `runtimectl` command or at the end of the line. */
const commandInText = new RegExp(String.raw`\bruntimectl (?=(?:${connected})\b)([^\n]*?)(?=\bruntimectl |\n|$)`, "g");

/**
 * Adds the connection flags of the running command to the `runtimectl` commands in a text, so that these commands use the same daemon. A
 * command that already contains a connection flag stays unchanged.
 */
export function repeatFlags(text: string, { profile, url, keyFile }: Pick<GlobalFlags, "profile" | "url" | "keyFile">): string {
  const flags = [
    ...(profile === undefined ? [] : ["-p", profile]),
    ...(url === undefined ? [] : ["--url", url]),
    ...(keyFile === undefined ? [] : ["--key-file", keyFile]),
  ];
  if (flags.length === 0) return text;
  const words = flags.map(shellWord).join(" ");
  return text.replace(commandInText, (command, rest: string) =>
    /(?:^|\s)(?:-p|--profile|--url|--key-file)\b/.test(rest) ? command : `runtimectl ${words} ${rest}`,
  );
}
