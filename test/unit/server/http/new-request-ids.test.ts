import { expect, test } from "vitest";
import { newRequestIds } from "../../../../src/server/http/request-id.js";

test("request IDs are unique UUIDs of version 4, with one prefix per generator", () => {
  const newId = newRequestIds();
  const ids = Array.from({ length: 10_000 }, newId);

  expect(new Set(ids).size).toBe(ids.length);
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(newRequestIds()().slice(0, 8)).not.toBe(newRequestIds()().slice(0, 8));
});
