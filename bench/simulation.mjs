// Daemons that share one primary, simulated with the real code of index and feed: `npm run simulation -- --daemons 10,30,100`.
import { existsSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { parseArgs } from "node:util";
import { Simulation } from "./fleet/simulation.mjs";
import { simulationPlot, simulationReport } from "./fleet/simulation-report.mjs";
import { MachineLoad } from "./support/machine-load.mjs";
import { readSettings } from "./support/settings.mjs";
import { Stage } from "./support/stage.mjs";

/**
 * Folder in memory for the replicas of the simulated daemons, if the machine has one. Each daemon has a disk of its own in reality; on one
 * disk, the writes of 100 replicas would delay the transactions of sqld.
 */
const memoryFolder = "/dev/shm";

const { values } = parseArgs({
  options: {
    packages: { type: "string", default: "100000" },
    daemons: { type: "string", default: "10,30,100" },
    rates: { type: "string", default: "0.2,1,5" },
    seconds: { type: "string", default: "15" },
    processes: { type: "string", default: "4" },
    replicas: { type: "string", default: existsSync(memoryFolder) ? memoryFolder : tmpdir() },
  },
});
const [packages, seconds, processes] = [values.packages, values.seconds, values.processes].map(Number);
const [daemonCounts, rates] = [values.daemons, values.rates].map((text) => text.split(",").map(Number));
if (!(packages >= 1000 && seconds >= 1 && processes >= 1 && daemonCounts.every((count) => count >= 1) && rates.every((rate) => rate > 0))) {
  console.error(
    "npm run simulation -- --packages N (at least 1000) --daemons N,N --rates N,N (changes a second) --seconds N --processes N --replicas FOLDER",
  );
  process.exit(2);
}

const stage = new Stage({ settings: readSettings([], process.env) });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stage.dispose().finally(() => process.exit(130)));
try {
  const load = new MachineLoad();
  const options = { packages, daemonCounts: daemonCounts.toSorted((a, b) => a - b), rates, seconds, processes, replicas: values.replicas };
  const simulation = new Simulation(stage, options);
  for await (const outcome of simulation.run()) {
    const picture = simulationPlot({ rates, outcome });
    const command = process.argv.slice(2).join(" ");
    const report = simulationReport({ ...options, command, outcome, load: load.describe(), hasPicture: picture !== undefined });
    if (picture !== undefined) await writeFile(new URL("simulation.svg", import.meta.url), picture);
    await writeFile(new URL("SIMULATION.md", import.meta.url), report);
  }
} finally {
  await stage.dispose();
}
