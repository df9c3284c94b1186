import { expect, test } from "vitest";
import { actionTable, Keymap, type ActionId } from "../../../../src/cli/dashboard/keyboard/keymap.js";

test("the default keymap has a key for every action", () => {
  const keymap = new Keymap();
  expect((Object.keys(actionTable) as ActionId[]).filter((id) => keymap.keyOf(id) === "")).toEqual([]);
});

/** The keys that are the default of several actions, with the labels of these actions. */
const sharedMeanings = {
  e: ["on/off", "on/off"],
  u: ["upload", "upload", "upload"],
  d: ["delete", "delete", "revoke", "remove", "remove", "delete"],
  D: ["delete all", "remove although required"],
  c: ["create", "create", "create", "create"],
};

test("the default keys have the same meaning on every screen", () => {
  const keymap = new Keymap();
  const ids = Object.keys(actionTable) as ActionId[];
  const used = new Set(ids.flatMap((id) => keymap.keysOf(id)));
  const shared = [...used].map((key) => [key, keymap.actionsOf(key).map((id) => actionTable[id].label)] as const);
  expect(Object.fromEntries(shared.filter(([, labels]) => labels.length > 1))).toEqual(sharedMeanings);
});

test("the default key of an action is unassigned after the user configures another key", () => {
  const keymap = new Keymap({ "workers.delete": "X" });
  expect(keymap.actionsOf("X")).toEqual(["workers.delete"]);
  expect(keymap.actionsOf("d")).not.toContain("workers.delete");
});

test.each([
  [{ "workers.delete": "e" }, "the key e is assigned to both workers.toggle and workers.delete"],
  [{ quit: "r" }, "the key r is assigned to both refresh and quit"],
  [{ "workers.delete": "j" }, "the key j is assigned to both list.down and workers.delete"],
  [{ "workers.delete": "q" }, "the key q is assigned to both workers.delete and quit"],
])("the keymap rejects one key for two actions and names both actions (keys: %j)", (changes, message) => {
  expect(() => new Keymap(changes)).toThrow(message);
});

test("the keymap permits the same key on two screens", () => {
  expect(() => new Keymap({ "connect.signIn": "e" })).not.toThrow();
});

test.each([
  [{ "workers.delet": "D" }, /no action "workers\.delet"/],
  [{ quit: "ctrl-c" }, /"ctrl-c" is not a valid key/],
  [{ quit: "super" }, /"super" is not a valid key/],
  [{ quit: "" }, /"" is not a valid key/],
])("the keymap rejects an unknown action or an invalid key (bindings: %j)", (changes, message) => {
  expect(() => new Keymap(changes)).toThrow(message);
});
