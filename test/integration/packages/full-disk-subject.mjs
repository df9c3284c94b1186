// Runs on a disk of 2 MB: node full-disk-subject.mjs <directory> <small archive> <big archive>. Prints one line of JSON.
import { mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { pino } from "pino";
import { directoryStore } from "../../../build/server/packages/directory-store.js";
import { PackageTools } from "../../../build/server/packages/package-tools.js";
import { WorkerPackages } from "../../../build/server/packages/worker-packages.js";

const [directory, small, big] = process.argv.slice(2);
const tools = new PackageTools({ maxExpandedSizeBytes: 1024 ** 3, maxArchiveEntries: 1000 });
const packages = await WorkerPackages.open({
  directories: [directory],
  builtInDirectory: mkdtempSync(path.join(tmpdir(), "builtin-")),
  reservedNames: new Set(),
  tools,
  store: directoryStore,
  log: pino({ level: "silent" }),
  retire: async () => undefined,
});
const install = (archive) => packages.install({ path: archive, filename: "a.tgz", sizeBytes: 1 }, { authorise: () => undefined });
await install(small);
const { code } = await install(big).catch((error) => error);
const mark = readFileSync(path.join(directory, "app", "1.0.0", "mark"), "utf8");
const entries = readdirSync(directory).filter((name) => name !== ".instances");
await packages.remove("app");
const removedAfterwards = packages.list().length === 0;
await packages.close();
await tools.close();
process.stdout.write(JSON.stringify({ code, mark, entries, removedAfterwards }));
