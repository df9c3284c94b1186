// Changes plugins in a loop for kill tests: node plugin-crash-subject.mjs <directory> <built-in> <archive of A> <of B> <of another>.
import { copyFileSync } from "node:fs";
import { pino } from "pino";
import { PackageTools } from "../../../build/server/packages/package-tools.js";
import { PluginPackages } from "../../../build/server/packages/plugin-packages.js";

const [directory, builtInDirectory, first, second, other] = process.argv.slice(2);
const packages = await PluginPackages.open({
  directories: [directory],
  builtInDirectory,
  reservedNames: new Set(),
  tools: new PackageTools({ maxExpandedSizeBytes: 1024 ** 3, maxArchiveEntries: 1000 }),
  log: pino({ level: "silent" }),
  retire: async () => undefined,
});
const install = (archive) => {
  // Installs a copy: an install consumes its file.
  copyFileSync(archive, `${archive}.spooled`);
  return packages.install({ path: `${archive}.spooled`, filename: "a.tgz", sizeBytes: 1 }, () => undefined);
};
const forever = async (step) => {
  for (let round = 0; ; round += 1) await step(round);
};
process.stdout.write("ready\n");
await Promise.all([
  forever((round) => install(round % 2 ? first : second)),
  forever((round) => packages.setEnabled("flag", round % 2 === 0)),
  forever(async () => {
    await install(other);
    await packages.remove("@team/other");
  }),
  forever(async () => {
    await packages.setEnabled("gateway", true);
    await packages.remove("gateway");
  }),
]);
