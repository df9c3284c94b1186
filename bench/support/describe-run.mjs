import { cpus, release, totalmem } from "node:os";

const gigabyte = 1024 ** 3;

/** Describes the machine and the settings of the run, without which the results have no meaning. */
export function describeRun({ settings, load, seconds }) {
  const warning = settings.isQuick ? "\n\n**A quick run: it shows that everything works; its figures mean nothing.**" : "";
  return (
    [
      `Made by \`npm run bench\` on ${new Date().toISOString().slice(0, 10)} in ${(seconds / 60).toFixed(1)} minutes.`,
      `- Machine: ${describeMachine()}. Servers and load share it.`,
      `- Load: ${load.name}, ${settings.rounds} alternating rounds of ${settings.secondsPerRound} s each after a warm-up; same load, same connections, same time for both sides.`,
      "- Ratio: ours by theirs within each round, then the median of these. The figures of both sides are medians.",
    ].join("\n") + warning
  );
}

export function describeMachine() {
  const memory = `${Math.round(totalmem() / gigabyte)} GB`;
  return `${cpus()[0]?.model.trim() ?? "unknown processor"}, ${cpus().length} cores, ${memory}, ${process.platform} ${release()}, Node ${process.versions.node}`;
}
