import { appendFile, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { beforeEach, expect, test } from "vitest";
import { ChangeLog, type PeerChange } from "../../../../../src/server/packages/transactions/change-log.js";
import { temporaryDirectory } from "../../../../support/temporary-directory.js";

let file: string;
let writer: ChangeLog;
let reader: ChangeLog;

const nothing = { changes: [], hasGap: false };
const changeOf = (name: string): PeerChange => ({ type: "worker.installed", subject: { name }, folders: [name] });
const append = (log: ChangeLog, name: string) => {
  log.read();
  log.append(changeOf(name));
};
const namesOf = ({ changes }: { changes: readonly PeerChange[] }) => changes.map(({ subject }) => subject.name);

beforeEach(async () => {
  file = path.join(await temporaryDirectory(), "changes");
  writer = new ChangeLog({ file, instance: "writer" });
  reader = new ChangeLog({ file, instance: "reader" });
});

test("the change log returns each change by another daemon once and in order", () => {
  expect(reader.read()).toEqual(nothing);
  append(writer, "a");
  append(writer, "b");
  expect(reader.read()).toEqual({ changes: [changeOf("a"), changeOf("b")], hasGap: false });
  expect(reader.read()).toEqual(nothing);
  append(reader, "c");
  expect(reader.read()).toEqual(nothing);
  expect(namesOf(writer.read())).toEqual(["c"]);
});

test("the change log ignores a line that a crash left incomplete", async () => {
  append(writer, "a");
  await appendFile(file, `{"log":"x","num`);
  expect(namesOf(reader.read())).toEqual(["a"]);
  append(writer, "b");
  expect(reader.read()).toEqual({ changes: [changeOf("b")], hasGap: false });
});

test("the change log limits its file size, but a frequent reader misses no change", async () => {
  const long = "x".repeat(1000);
  const read: (string | undefined)[] = [];
  for (let index = 0; index < 1000; index += 1) {
    append(writer, `${long}-${index}`);
    if (index % 20 !== 19) continue;
    const { changes, hasGap } = reader.read();
    expect(hasGap).toBe(false);
    read.push(...namesOf({ changes }));
  }
  expect(read).toHaveLength(1000);
  expect((await stat(file)).size).toBeLessThan(1024 * 1024);
});

test("the change log reports missed changes to a slow reader and when it is replaced", async () => {
  append(writer, "first");
  reader.read();
  const long = "x".repeat(5000);
  for (let index = 0; index < 100; index += 1) append(writer, `${long}-${index}`);
  expect(reader.read().hasGap).toBe(true);
  expect(reader.read()).toEqual(nothing);

  await rm(file);
  expect(reader.read().hasGap).toBe(true);
  append(writer, "of another log");
  expect(namesOf(reader.read())).toEqual(["of another log"]);

  await writeFile(file, (await readFile(file, "utf8")).replace(/"log":"[^"]*"/, `"log":"put back"`));
  await appendFile(file, "\n");
  expect(reader.read().hasGap).toBe(true);
});
