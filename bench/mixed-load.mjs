// Mixed load and faults on daemons that share keys and packages: `npm run mixed-load -- --minutes 2 --daemons 3 --rate 200`.
// Fails for a lost acknowledged change, an unexplained 5xx, or memory growth beyond its limit.
import { writeFile } from "node:fs/promises";
import { parseArgs } from "node:util";
import { MixedLoad } from "./mixed-load/mixed-load.mjs";
import { figuresOf, judgeMemory } from "./mixed-load/memory.mjs";
import { mixedLoadReport } from "./mixed-load/report.mjs";
import { plot } from "./support/plot.mjs";
import { readSettings } from "./support/settings.mjs";
import { Stage } from "./support/stage.mjs";

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "30" },
    daemons: { type: "string", default: "3" },
    rate: { type: "string", default: "200" },
  },
});
const [minutes, daemonCount, ratePerSecond] = [values.minutes, values.daemons, values.rate].map(Number);
if (!(minutes >= 1 && daemonCount >= 1 && daemonCount <= 3 && ratePerSecond >= 1)) {
  console.error("npm run mixed-load -- --minutes N (at least 1) --daemons N (1 to 3) --rate N (requests a second)");
  process.exit(2);
}

const stage = new Stage({ settings: readSettings([], process.env) });
for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void stage.dispose().finally(() => process.exit(130)));
try {
  const load = new MixedLoad(stage, { minutes, daemonCount, ratePerSecond });
  const outcome = await load.run();
  const lines = judgeMemory(outcome.samples, outcome);
  const problems = [...outcome.problems, ...lines.flatMap((line) => line.problems)];
  const report = mixedLoadReport({ minutes, daemonCount, ratePerSecond, outcome, lines, problems });
  await writeFile(new URL("mixed-load.svg", import.meta.url), plot(outcome.samples, figuresOf(daemonCount), outcome.awayPeriods));
  await writeFile(new URL("MIXED-LOAD.md", import.meta.url), report);
  console.log(report);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await stage.dispose();
}
