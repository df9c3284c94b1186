import { expect, test } from "vitest";
import { toHostRows } from "../../../src/shared/host-rows.js";

test("toHostRows returns added host names before requested host names", () => {
  const hosts = [{ host: "b.example.org", worker: "shop", version: "^1", createdAt: 1, createdBy: "root" }];
  expect(toHostRows({ hosts, requested: [{ host: "a.example.org", worker: "todos" }] })).toEqual([
    { host: "b.example.org", worker: "shop", version: "^1", state: "added", by: "root", at: 1 },
    { host: "a.example.org", worker: "todos", version: undefined, state: "requested", by: undefined, at: undefined },
  ]);
});
