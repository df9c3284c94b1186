import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NamedUsers } from "../../../../../src/server/workers/isolates/uid-pool.js";

function temporaryFile(): string {
  const folder = mkdtempSync(path.join(tmpdir(), "named-users-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return path.join(folder, "worker-users.json");
}

test("each worker name has its own user, which stays the same after a restart", () => {
  const file = temporaryFile();
  const users = new NamedUsers({ file, salt: "daemon", count: 50 });
  const names = Array.from({ length: 50 }, (_, index) => `worker-${index}`);
  const indexes = names.map((name) => users.indexOf(name));
  expect(new Set(indexes).size).toBe(50);
  expect(Math.max(...indexes)).toBeLessThan(50);

  const later = new NamedUsers({ file, salt: "daemon", count: 50 });
  expect(names.toReversed().map((name) => later.indexOf(name))).toEqual(indexes.toReversed());
});

test("two worker names have the same user only when no user is free", () => {
  const users = new NamedUsers({ file: undefined, salt: "", count: 2 });
  expect(new Set([users.indexOf("a"), users.indexOf("b")]).size).toBe(2);
  expect(users.indexOf("c")).toBeLessThan(2);
});

test.each(["", "null", "[1", '{"a":-1}', '{"a":"1"}'])(
  "a hash of the worker name determines the user if the file has the content %j",
  (text) => {
    const file = temporaryFile();
    const index = new NamedUsers({ file: undefined, salt: "daemon", count: 50 }).indexOf("a");
    writeFileSync(file, text);
    expect(new NamedUsers({ file, salt: "daemon", count: 50 }).indexOf("a")).toBe(index);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ a: index });
  },
);
