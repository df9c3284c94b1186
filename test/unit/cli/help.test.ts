import { describe, expect, test } from "vitest";
import { commandTable, isNoun } from "../../../src/cli/command/command-table.js";
import { commandHelp, nounHelp, rootHelp } from "../../../src/cli/command/help.js";
import { helpTopics } from "../../../src/cli/command/help-topics.js";
import { commandTree } from "../../../src/cli/command/reference.js";

const tree = await commandTree();

/** Returns every help page with the words that print it. */
function pages(style: { widthColumns: number; hasColor: boolean }): (readonly [words: string, text: string])[] {
  return [
    ["", rootHelp(style)],
    ...Object.entries(commandTable).flatMap(([name, entry]): [string, string][] =>
      isNoun(entry) ? [[name, nounHelp(name, entry, style)]] : [],
    ),
    ...Object.entries(helpTopics).map(([topic, text]) => [`help ${topic}`, text(style)] as const),
    ...tree.map(({ words, summary, definition }) => [words, commandHelp(words, summary, definition, style)] as const),
  ];
}

/** A line of one word, or a command to copy, keeps its length. */
const isWhole = (line: string) => !line.trim().includes(" ") || /^ +(?:- run: |\S*)(?:runtimectl|curl|sudo|kubectl|npx)/.test(line);

describe.each([60, 80, 100, 140])("help output in a terminal of %i columns", (widthColumns) => {
  test.each(pages({ widthColumns, hasColor: false }))("wraps the lines of `runtimectl %s --help`", (_, text) => {
    const tooLong = text.split("\n").filter((line) => line.length > widthColumns && !isWhole(line));
    expect(tooLong).toEqual([]);
  });
});

test("runtimectl --help lists every command once", () => {
  const text = rootHelp({ widthColumns: 80, hasColor: false });
  for (const [name, { summary }] of Object.entries(commandTable)) {
    const lines = text.split("\n").filter((line) => new RegExp(`^  ${name} +${summary}$`).test(line));
    expect(lines, name).toHaveLength(1);
  }
});

test("runtimectl --help lists every help topic", () => {
  const text = rootHelp({ widthColumns: 80, hasColor: false });
  for (const topic of Object.keys(helpTopics)) expect(text).toMatch(new RegExp(`runtimectl help .*\\b${topic}\\b`));
});

test("help output has bold titles if color is enabled, otherwise no escape codes", () => {
  expect(rootHelp({ widthColumns: 80, hasColor: true })).toContain("\x1b[1mManage:\x1b[0m\n");
  expect(rootHelp({ widthColumns: 80, hasColor: false })).not.toContain("\x1b");
});
