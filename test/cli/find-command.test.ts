import { expect, test } from "vitest";
import { findCommand } from "../../src/cli/find-command.js";
import { globalFlagsWithValue, globalOptions } from "../../src/cli/global-options.js";
import { commandTree } from "../../src/cli/reference.js";
import { refuseSecrets } from "../../src/cli/secret-in-arguments.js";

test.each([
  [["workers", "list"], []],
  [["--json", "workers", "list"], ["--json"]],
  [
    ["-p", "prod", "workers", "--url", "http://a", "list", "-v"],
    ["-p", "prod", "--url", "http://a", "-v"],
  ],
])("%j is the command workers list", (given, rest) => {
  expect(findCommand(given)).toMatchObject({ kind: "command", words: "workers list", rest });
});

test("every global flag that takes a value is known to the search for the command", () => {
  const taking = globalOptions
    .filter((option) => option.flags.includes("<"))
    .flatMap((option) => option.flags.replace(/ <.*/, "").split(", "));
  expect(globalFlagsWithValue).toEqual(new Set(taking));
});

test("words from Object's prototype are no commands", () => {
  expect(findCommand(["constructor"])).toMatchObject({ kind: "unknown" });
  expect(findCommand(["workers", "toString"])).toMatchObject({ kind: "unknown" });
});

test("every command has examples that begin with itself, and no flag of its own hides a global one", async () => {
  const globalFlags = new Set(globalOptions.flatMap((option) => option.flags.split(/[ ,]+/)));
  for (const { words, definition } of await commandTree()) {
    expect(definition.examples.some(([line]) => line.includes(`runtimectl ${words}`))).toBe(true);
    for (const option of definition.options ?? [])
      for (const flag of option.flags.split(/[ ,]+/).filter((part) => part.startsWith("-"))) expect(globalFlags).not.toContain(flag);
  }
});

test.each([
  ["a key as an argument", [`rtk_${"a".repeat(43)}`]],
  ["a key in a body", ["-d", `{"key":"rtk_${"a".repeat(43)}"}`]],
  ["most of a key", [`--x=rtk_${"a".repeat(30)}`]],
  ["a password in a URL", ["--url", "https://me:secret@host"]],
])("%s is refused without being repeated", (_, words) => {
  const error = (() => {
    try {
      refuseSecrets(words);
    } catch (reason) {
      return reason as Error & { hint?: string; exitCode: number };
    }
    return undefined;
  })();
  expect(error?.exitCode).toBe(2);
  expect(`${error?.message}${error?.hint}`).not.toMatch(/aaaa|secret@/);
});
