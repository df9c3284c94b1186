// Runs on a disk of 256 KB: node full-disk-subject.mjs <directory>. Prints one line of JSON.
import { rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { AuditLog } from "../../../build/server/events/audit-log.js";

const [directory] = process.argv.slice(2);
const options = {
  directory: path.join(directory, "audit"),
  fileBytes: 1024 ** 2,
  keptFiles: 2,
  now: Date.now,
  log: pino({ level: "silent" }),
};
const audit = await AuditLog.open(options);
const record = (name) =>
  audit.record(
    { action: "key.created", outcome: "done", clientAddress: "127.0.0.1", requestId: name, subject: { name } },
    { isSynced: true },
  );
await record("before");
const ballast = path.join(directory, "ballast");
try {
  for (let size = 300_000; size > 0; size -= 1000) {
    try {
      writeFileSync(ballast, Buffer.alloc(size));
      break;
    } catch {
      // Tries a smaller file next, until a file fits.
    }
  }
  for (;;) writeFileSync(ballast, Buffer.alloc(512), { flag: "a" });
} catch {
  // The disk is full now.
}
const startedAtMs = performance.now();
// The last block of the file has space for some entries.
for (let index = 0; index < 60; index += 1) await record(`full ${index} ${"x".repeat(80)}`);
const { waiting } = audit.counts;
const elapsedMs = performance.now() - startedAtMs;
rmSync(ballast);
await record("after");
await audit.close();
const reopened = await AuditLog.open(options);
const { entries } = await reopened.read({ limit: 1000 });
process.stdout.write(
  JSON.stringify({
    waited: waiting > 0,
    isQuick: elapsedMs < 1500,
    count: entries.length,
    names: [entries[0].requestId, entries.at(-1).requestId],
  }),
);
