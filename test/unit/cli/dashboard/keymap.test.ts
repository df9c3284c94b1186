import { expect, test } from "vitest";
import { actionTable, Keymap, type ActionId } from "../../../../src/cli/dashboard/keymap.js";

test("the keys as they are have no conflict", () => {
  const keymap = new Keymap();
  expect((Object.keys(actionTable) as ActionId[]).filter((id) => keymap.keyOf(id) === "")).toEqual([]);
});

test("a key may be given to another action, and means nothing else then", () => {
  const keymap = new Keymap({ "workers.delete": "X" });
  expect(keymap.actionsOf("X")).toEqual(["workers.delete"]);
  expect(keymap.actionsOf("d")).not.toContain("workers.delete");
});

test.each([
  [{ "workers.delete": "e" }, "the key e would mean both workers.toggle and workers.delete"],
  [{ quit: "r" }, "the key r would mean both refresh and quit"],
  [{ "workers.delete": "j" }, "the key j would mean both list.down and workers.delete"],
  [{ "workers.delete": "q" }, "the key q would mean both workers.delete and quit"],
])("a key with two meanings in one place is refused with both names: %j", (changes, message) => {
  expect(() => new Keymap(changes)).toThrow(message);
});

test("screens do not share their keys", () => {
  expect(() => new Keymap({ "connect.signIn": "e" })).not.toThrow();
});

test.each([
  [{ "workers.delet": "D" }, /no action "workers\.delet"/],
  [{ quit: "ctrl-c" }, /"ctrl-c" is not a key that can be given/],
  [{ quit: "super" }, /"super" is not a key that can be given/],
  [{ quit: "" }, /"" is not a key that can be given/],
])("what is no action or no key is refused: %j", (changes, message) => {
  expect(() => new Keymap(changes)).toThrow(message);
});
