// Measures how each fault of one worker affects another worker, and the same for apps in plain processes: `npm run neighbour`, or with `--
// 1` for one round. Writes bench/NEIGHBOUR.md. The tests in test/resilience check the limits.
import { writeFile } from "node:fs/promises";
import { neighbourReport } from "./neighbour/report.mjs";
import { watchFaults } from "./neighbour/watch-faults.mjs";
import { Stage } from "./support/stage.mjs";

const rounds = Number(process.argv[2] ?? 5);
if (!(Number.isInteger(rounds) && rounds >= 1)) {
  console.error("npm run neighbour -- ROUNDS, at least 1");
  process.exit(2);
}
const stage = new Stage({ settings: {}, load: undefined });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stage.dispose().finally(() => process.exit(130)));
try {
  const report = neighbourReport({ rounds, figures: await watchFaults(stage, { rounds }) });
  console.log(report);
  await writeFile(new URL("NEIGHBOUR.md", import.meta.url), report);
} finally {
  await stage.dispose();
}
