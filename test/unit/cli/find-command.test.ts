import { expect, test } from "vitest";
import { commandAliases, commandHints, nounAliases } from "../../../src/cli/command/command-aliases.js";
import { commandTable } from "../../../src/cli/command/command-table.js";
import { matchCommand } from "../../../src/cli/command/find-command.js";
import { globalFlagsWithValue, globalOptions } from "../../../src/cli/command/global-options.js";
import { commandTree } from "../../../src/cli/command/reference.js";
import { refuseSecrets } from "../../../src/cli/command/secret-in-arguments.js";

test.each([
  [["workers", "list"], []],
  [["--json", "workers", "list"], ["--json"]],
  [
    ["-p", "prod", "workers", "--url", "http://a", "list", "-v"],
    ["-p", "prod", "--url", "http://a", "-v"],
  ],
])("matchCommand finds the command `workers list` in the arguments %j", (given, rest) => {
  expect(matchCommand(given)).toMatchObject({ kind: "command", words: "workers list", rest });
});

test.each([
  ["worker ls", "workers list"],
  ["app ls", "workers list"],
  ["app rm", "workers delete"],
  ["plugin rm", "plugins delete"],
  ["key rm", "keys revoke"],
  ["key ls", "keys list"],
  ["profile ls", "profile list"],
  ["profile rm", "profile rm"],
  ["rollback", "workers rollback"],
  ["ps", "workers list"],
  ["logs", "workers logs"],
  ["login", "auth login"],
  ["whoami", "auth status"],
  ["top", "tui"],
  ["rm", "workers delete"],
  ["ls", "workers list"],
  ["show", "workers show"],
  ["log", "workers logs"],
  ["keys delete", "keys revoke"],
  ["keys remove", "keys revoke"],
  ["profile delete", "profile rm"],
  ["profile remove", "profile rm"],
  ["secrets delete", "secrets remove"],
  ["workers remove", "workers delete"],
  ["files list", "files ls"],
  ["files delete", "files rm"],
  ["workers list", "workers list"],
])("matchCommand parses the words %s as the command %s", (given, words) => {
  expect(matchCommand([...given.split(" "), "@team/app", "--json"])).toMatchObject({
    kind: "command",
    words,
    rest: ["@team/app", "--json"],
  });
});

const helpOn = (words: readonly string[]) => {
  const found = matchCommand(words);
  return found.kind === "help" ? found.text({ widthColumns: 80, hasColor: false }) : found.kind;
};

test("the alias `app` has the help and the suggestions of `workers`", () => {
  expect(helpOn(["app"])).toBe(helpOn(["workers"]));
  expect(helpOn(["app"])).toContain("runtimectl workers logs");
  expect(matchCommand(["app", "lsit"])).toMatchObject({ kind: "unknown", word: "lsit", noun: "workers" });
  expect(matchCommand(["status", "ls"])).toMatchObject({ kind: "command", words: "status", rest: ["ls"] });
  expect(matchCommand(["auth", "ls"])).toMatchObject({ kind: "unknown", word: "ls", noun: "auth" });
});

test("each alias replaces an existing command and hides no other command", () => {
  const nouns = Object.keys(commandTable);
  expect(nouns).toEqual(expect.arrayContaining(Object.values(nounAliases)));
  for (const alias of [...Object.keys(nounAliases), ...Object.keys(commandAliases)]) expect(nouns).not.toContain(alias);
  for (const [alias, words] of Object.entries(commandAliases)) {
    const meant = matchCommand([...words, "x"]);
    expect(meant.kind).toBe("command");
    expect(matchCommand([alias, "x"])).toEqual(meant);
  }
  for (const word of Object.keys(commandHints)) expect([...nouns, ...Object.keys(commandAliases)]).not.toContain(word);
});

test("matchCommand accepts a value for each global flag that requires a value", () => {
  const taking = globalOptions
    .filter((option) => option.flags.includes("<"))
    .flatMap((option) => option.flags.replace(/ <.*/, "").split(", "));
  expect(globalFlagsWithValue).toEqual(new Set(taking));
});

test("matchCommand rejects property names of Object.prototype as unknown commands", () => {
  expect(matchCommand(["constructor"])).toMatchObject({ kind: "unknown" });
  expect(matchCommand(["workers", "toString"])).toMatchObject({ kind: "unknown" });
});

test("each command has an example, and none of its flags has a global flag's name", async () => {
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
  ["a truncated key", [`--x=rtk_${"a".repeat(30)}`]],
  ["a password in a URL", ["--url", "https://me:secret@host"]],
])("runtimectl rejects a secret in its arguments without printing it (secret: %s)", (_, words) => {
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
