import { expect, test } from "vitest";
import { rowsOf } from "../../../../src/server/access/replica/resync.js";

const key = (id: number, revision: number) => ({
  id,
  name: `key ${id}`,
  key_prefix: "",
  hash: `hash ${id}`,
  role: "viewer" as const,
  permissions: "[]",
  namespaces: '["*"]',
  created_at: 1_700_000_000,
  last_used_at: null,
  expires_at: null,
  revoked_at: null,
  revision,
});
const record = (kind: string, revision: number) => ({ kind, key: "a", value: String(revision), revision });

test("a resync uses, for each key and record, the row with the higher revision", () => {
  const replica = { keys: [key(1, 9), key(2, 3), key(3, 4)], records: [record("host", 9), record("secret", 3)] };
  const own = { keys: [key(1, 5), key(2, 6), key(4, 7)], records: [record("host", 5), record("secret", 6)] };

  const { keys, records } = rowsOf(replica, own);

  expect(new Map(keys.map(({ id, revision }) => [id, revision]))).toEqual(
    new Map([
      [1, 9],
      [2, 6],
      [3, 4],
      [4, 7],
    ]),
  );
  expect(new Map(records.map(({ kind, value }) => [kind, value]))).toEqual(
    new Map([
      ["host", "9"],
      ["secret", "6"],
    ]),
  );
});
