import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { HealthRecords } from "../../../../src/server/health/health-records.js";

const record = { version: "1.0.0", state: "failing", sinceMs: 1_800_000_000_000, activeSinceMs: 1_799_999_000_000, hadProblem: false };

async function openRecords() {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const file = path.join(directory, "health-states.json");
  const warnings: string[] = [];
  const open = () => HealthRecords.open({ file, log: { warn: (_fields, text) => warnings.push(text) } });
  return { file, warnings, open };
}

test("health records that an earlier process stored are read at the next start", async () => {
  const { open, warnings } = await openRecords();
  const records = await open();
  records.put("workers", "shop", record);
  records.put("plugins", "shop", { state: "disabled", sinceMs: 1 });
  records.put("workers", "gone", record);
  records.retain("workers", (name) => name === "shop");
  await records.close();
  const again = await open();
  expect([...again.workers]).toEqual([["shop", record]]);
  expect([...again.plugins]).toEqual([["shop", { state: "disabled", sinceMs: 1 }]]);
  expect(warnings).toEqual([]);
});

test("health records are empty and a warning is logged if their file is damaged", async () => {
  const { file, open, warnings } = await openRecords();
  await writeFile(file, '{"workers":');
  const records = await open();
  expect([...records.workers]).toEqual([]);
  expect(warnings).toEqual([expect.stringContaining("health-states.json")]);
  records.put("workers", "shop", record);
  await records.close();
  expect(JSON.parse(await readFile(file, "utf8"))).toEqual({ workers: { shop: record }, plugins: {} });
});
