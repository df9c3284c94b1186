// Changes packages in a loop for kill tests: node crash-subject.mjs <directory> <archive of A> <of B> <of another>.
import { copyFileSync } from "node:fs";
import path from "node:path";
import { pino } from "pino";
import { directoryStore } from "../../../build/server/packages/directory-store.js";
import { PackageTools } from "../../../build/server/packages/package-tools.js";
import { WorkerPackages } from "../../../build/server/packages/worker-packages.js";

const [directory, first, second, other] = process.argv.slice(2);
const tools = new PackageTools({ maxExpandedSizeBytes: 1024 ** 3, maxArchiveEntries: 1000 });
const packages = await WorkerPackages.open({
  directories: [directory],
  builtInDirectory: path.join(directory, ".builtin"),
  reservedNames: new Set(),
  tools,
  store: directoryStore,
  log: pino({ level: "silent" }),
  retire: async () => undefined,
});
const install = (archive) => {
  // Installs a copy: an install consumes its file.
  copyFileSync(archive, `${archive}.spooled`);
  return packages.install({ path: `${archive}.spooled`, filename: "a.tgz", sizeBytes: 1 }, { authorise: () => undefined });
};
const forever = async (step) => {
  for (let round = 0; ; round += 1) await step(round);
};
process.stdout.write("ready\n");
await Promise.all([
  forever((round) => install(round % 2 ? first : second)),
  forever((round) => packages.setEnabled("flag", "1.0.0", round % 2 === 0)),
  forever(async () => {
    await install(other);
    await packages.remove("@team/other");
  }),
]);
