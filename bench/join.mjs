// Compares the start of a daemon with an empty disk to a start with a warm disk: `npm run join -- --packages 2000 --rounds 5`.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { measureJoin } from "./fleet/join.mjs";
import { joinReport } from "./fleet/join-report.mjs";
import { MachineLoad } from "./support/machine-load.mjs";
import { readSettings } from "./support/settings.mjs";
import { Stage } from "./support/stage.mjs";

const { values } = parseArgs({ options: { packages: { type: "string", default: "2000" }, rounds: { type: "string", default: "5" } } });
const [packages, rounds] = [values.packages, values.rounds].map(Number);
if (!(packages >= 20 && rounds >= 1)) {
  console.error("npm run join -- --packages N (at least 20) --rounds N (at least 1)");
  process.exit(2);
}

const stage = new Stage({ settings: readSettings([], process.env) });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stage.dispose().finally(() => process.exit(130)));
try {
  const load = new MachineLoad();
  const figures = await measureJoin(stage, { packages, rounds });
  const report = joinReport({ packages, rounds, figures, load: load.describe() });
  await writeFile(new URL("JOIN.md", import.meta.url), report);
  console.log(report);
} finally {
  await stage.dispose();
}
