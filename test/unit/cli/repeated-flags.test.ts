import { expect, test } from "vitest";
import { repeatFlags } from "../../../src/cli/command/repeated-flags.js";

test.each([
  ["Undo: runtimectl workers disable app@1.0.0", "Undo: runtimectl -p prod workers disable app@1.0.0"],
  [
    "a\nUndo: runtimectl workers enable a\nUndo: runtimectl workers enable b",
    "a\nUndo: runtimectl -p prod workers enable a\nUndo: runtimectl -p prod workers enable b",
  ],
  ["runtimectl files get x && runtimectl deploy y", "runtimectl -p prod files get x && runtimectl -p prod deploy y"],
  ["sign in with: runtimectl auth login", "sign in with: runtimectl -p prod auth login"],
  ["runtimectl auth login --profile other --url URL", "runtimectl auth login --profile other --url URL"],
  ["runtimectl -p other status", "runtimectl -p other status"],
  ["Undo: runtimectl hosts remove a.test", "Undo: runtimectl -p prod hosts remove a.test"],
  ["printf %s x | runtimectl secrets set app NAME", "printf %s x | runtimectl -p prod secrets set app NAME"],
  ["runtimectl data list", "runtimectl -p prod data list"],
  ["runtimectl logs app", "runtimectl -p prod logs app"],
  ["sudo runtimectl daemon install", "sudo runtimectl daemon install"],
  ["runtimectl profile list", "runtimectl profile list"],
  ["runtimectl --help", "runtimectl --help"],
  ["the runtimectl of another version", "the runtimectl of another version"],
  ["nothing to repeat", "nothing to repeat"],
])("runtimectl adds -p prod to suggested commands that need a profile: %j becomes %j", (text, expected) => {
  expect(repeatFlags(text, { profile: "prod" })).toBe(expected);
});

test("runtimectl adds the connection flags to suggested commands, quoted for the shell", () => {
  const flags = { profile: "prod", url: "https://rt.example.org", keyFile: "my keys/it's.key" };
  expect(repeatFlags("runtimectl status", flags)).toBe(
    `runtimectl -p prod --url https://rt.example.org --key-file 'my keys/it'\\''s.key' status`,
  );
  expect(repeatFlags("runtimectl status", {})).toBe("runtimectl status");
});
