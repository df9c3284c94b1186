import { expect, test } from "vitest";
import { handledRights, missingRights, ruleRights } from "../../../../../src/server/workers/sandbox/landlock.js";

function bits(abi: number): bigint[] {
  const { files, network, scopes } = handledRights(abi, { deniesConnecting: true });
  return [files, network, scopes];
}

test("the sandbox uses the rights of each Landlock version and lists missing rights", () => {
  expect(bits(1)).toEqual([0x1fffn, 0n, 0n]);
  expect(bits(2)).toEqual([0x3fffn, 0n, 0n]);
  expect(bits(3)).toEqual([0x7fffn, 0n, 0n]);
  expect(bits(4)).toEqual([0x7fffn, 3n, 0n]);
  expect(bits(5)).toEqual([0xffffn, 3n, 0n]);
  expect(bits(7)).toEqual([0xffffn, 3n, 3n]);
  expect(handledRights(7, { deniesConnecting: false }).network).toBe(1n);
  expect(missingRights(7)).toEqual([]);
  expect(missingRights(2)).toHaveLength(4);
});

test("Landlock rules contain only supported rights; rules for files omit folder rights", () => {
  expect(ruleRights(["read"], 0xffffn, { isFolder: true })).toBe(0xcn);
  expect(ruleRights(["read"], 0xffffn, { isFolder: false })).toBe(0x4n);
  expect(ruleRights(["write"], 0x1fffn, { isFolder: true }) & ~0x1fffn).toBe(0n);
});
