import { usageError } from "../command/command-error.js";

const word = /\s*((?:"[^"]*"|'[^']*'|[^\s"'])+)/y;

/** The words of a line as a shell splits them, as far as quotes go; nothing is expanded. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  const text = line.trimEnd();
  for (let position = 0; position < text.length; position = word.lastIndex) {
    word.lastIndex = position;
    const [, found] = word.exec(text) ?? [];
    if (found === undefined) throw usageError("a quote is not closed");
    words.push(found.replace(/"([^"]*)"|'([^']*)'/g, "$1$2"));
  }
  return words;
}
