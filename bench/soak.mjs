// Mixed load with all kinds of faults: `npm run soak -- 2` for two minutes. Fails if an unaffected worker loses a request, or a value of
// bench/soak/figures.mjs grows beyond its limit.
import { writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { figures } from "./soak/figures.mjs";
import { judge } from "./soak/judge.mjs";
import { soakReport } from "./soak/report.mjs";
import { Soak } from "./soak/soak.mjs";
import { plot } from "./support/plot.mjs";
import { Stage } from "./support/stage.mjs";

const minutes = Number(process.argv[2] ?? 10);
if (!(minutes >= 0.5)) {
  console.error("npm run soak -- MINUTES, at least 0.5");
  process.exit(2);
}
const stage = new Stage({ settings: {}, load: undefined });
const interrupt = () => void stage.dispose().finally(() => process.exit(130));
process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
try {
  const soak = new Soak(stage, { troubleMs: minutes * 60_000 });
  const outcome = await soak.run();
  const lines = judge(outcome.samples, outcome);
  const problems = [...outcome.problems, ...lines.flatMap((line) => line.problems)];
  const report = soakReport({ minutes, outcome, lines, problems });
  await writeFile(
    fileURLToPath(new URL("soak.svg", import.meta.url)),
    plot(outcome.samples, figures, [{ fromMs: outcome.troubleFromMs, toMs: outcome.troubleToMs }]),
  );
  await writeFile(fileURLToPath(new URL("SOAK.md", import.meta.url)), report);
  console.log(report);
  process.exitCode = problems.length === 0 ? 0 : 1;
} finally {
  await stage.dispose();
}
