import { expect, test } from "vitest";
import { splitWords } from "../../../../src/cli/dashboard/palette/run-line.js";

test.each([
  ["workers list", ["workers", "list"]],
  ["  workers   list  ", ["workers", "list"]],
  [`workers upload "my app"`, ["workers", "upload", "my app"]],
  ["workers upload 'my app'/x", ["workers", "upload", "my app/x"]],
  [`api GET ""`, ["api", "GET", ""]],
  ["", []],
])("the palette splits the command line %j into the words %j", (line, words) => {
  expect(splitWords(line)).toEqual(words);
});

test("the palette rejects a command line with an unclosed quote", () => {
  expect(() => splitWords(`workers upload "my app`)).toThrow("the command line contains an unclosed quotation mark");
});
