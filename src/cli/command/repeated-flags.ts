import type { GlobalFlags } from "./command.js";
import { shellWord } from "../output/shell-word.js";

/** First words of commands that talk to a daemon. */
const connected = "api|audit|auth|deploy|doctor|events|files|keys|plugins|rollback|status|tui|workers";
/** A command in a text, up to the next one or the end of its line. */
const commandInText = new RegExp(String.raw`\bruntimectl (?=(?:${connected})\b)([^\n]*?)(?=\bruntimectl |\n|$)`, "g");

/**
 * A text whose `runtimectl` commands reach the same daemon as the one that runs: with its `--profile`, `--url` and `--key-file`. A command
 * that names a daemon itself stays as it is.
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
