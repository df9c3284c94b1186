// Measures the performance claims of the runtime. Each value is a ratio to a baseline in the same run: `npm run bench`, or `npm run bench
// -- warm static` for two suites.
import { writeFile } from "node:fs/promises";
import { describeRun } from "./support/describe-run.mjs";
import { LoadGenerator } from "./support/load-generator.mjs";
import { installPeerPackages } from "./support/peer-packages.mjs";
import { readSettings } from "./support/settings.mjs";
import { Stage } from "./support/stage.mjs";
import { tableOf, verdictOf } from "./support/table.mjs";

/** The suites in the order of the table. */
const pieces = [
  "warm",
  "instances",
  "bodies",
  "hono",
  "node-servers",
  "static",
  "streams",
  "hooks",
  "request-log",
  "metrics-history",
  "hosts",
  "first-request",
  "many-workers",
  "many-installed",
  "idle",
  "upload",
  "pack",
  "recovery",
  "cli-start",
  "alongside",
];
/** Time limit of a suite in minutes, also if a process hangs. */
const timeoutMinutes = { perRound: 0.7, besides: 3 };

const flags = process.argv.slice(2).filter((argument) => argument.startsWith("-"));
const wanted = process.argv.slice(2).filter((argument) => !argument.startsWith("-"));
const unknown = wanted.filter((word) => !pieces.some((piece) => piece.includes(word)));
if (unknown.length > 0) {
  console.error(`There is no piece called ${unknown.join(", ")}. There are: ${pieces.join(", ")}.`);
  process.exit(2);
}

installPeerPackages();
const settings = readSettings(flags, process.env);
const pieceTimeoutMinutes = timeoutMinutes.besides + settings.rounds * timeoutMinutes.perRound;
const load = new LoadGenerator();
const rows = [];
const startedAtMs = performance.now();
for (const piece of pieces) {
  if (wanted.length > 0 && !wanted.some((word) => piece.includes(word))) continue;
  rows.push(...(await play(piece)));
}
const description = describeRun({ settings, load, seconds: (performance.now() - startedAtMs) / 1000 });
const text = `# Results\n\n${description}\n\n${tableOf(rows)}`;
console.log(text);
// Writes the committed file only after a complete run.
if (wanted.length === 0 && !settings.isQuick) await writeFile(new URL("RESULTS.md", import.meta.url), text);
process.exitCode = rows.some((row) => verdictOf(row) === "failed") ? 1 : 0;

/** Runs one suite. In every case, ends the processes of the suite and deletes its folders. */
async function play(piece) {
  const { name, run } = await import(`./pieces/${piece}.mjs`);
  console.error(`${name} …`);
  const stage = new Stage({ settings, load });
  const interrupt = () => void stage.dispose().finally(() => process.exit(130));
  process.once("SIGINT", interrupt).once("SIGTERM", interrupt);
  let timer;
  const timeout = new Promise((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${pieceTimeoutMinutes} minutes`)), pieceTimeoutMinutes * 60_000);
  });
  try {
    return await Promise.race([run(stage), timeout]);
  } catch (error) {
    console.error(error);
    return [{ work: name, against: "–", ours: "failed", theirs: "–", error, note: error.message.split("\n")[0] }];
  } finally {
    clearTimeout(timer);
    process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    await stage.dispose();
  }
}
