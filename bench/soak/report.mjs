import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";

/** Returns the results of a soak test as Markdown. */
export function soakReport({ minutes, outcome, lines, problems }) {
  const { neighbour, played, troubleSeconds } = outcome;
  const rows = lines.map(({ title, digits, before, early, late, after, slope, growth, left }) => {
    const bounds = [growth === undefined ? undefined : `+${growth} under load`, left === undefined ? undefined : `+${left} after`];
    const values = [before, early, late, after].map((value) => value.toFixed(digits));
    return [title, ...values, `${slope >= 0 ? "+" : ""}${slope.toFixed(2)}`, bounds.filter(Boolean).join(", ") || "–"];
  });
  const header = ["Figure", "Before", "Early", "Late", "After", "Change a minute", "Bound"];
  const verdict = problems.length === 0 ? "Nothing grew beyond its bounds." : problems.map((problem) => `- **${problem}**`).join("\n");
  return `# Soak

Made by \`npm run soak -- ${minutes}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}.

${minutes} minutes of mixed load with faults, then ${Math.round(troubleSeconds.after)} s of quiet. The daemon kept its process. An innocent neighbour made ${neighbour.requests.toLocaleString("en-US")} requests; ${neighbour.failures} failed.

${verdict}

![Figures over time; the tinted part is the time of trouble](soak.svg)

Before: ${Math.round(troubleSeconds.before)} s of steady load only. Early: after the first two minutes of trouble (a fifth of a shorter run). Late: its last half minute. After: all trouble over, idle isolates gone. Medians; of the heap the least, since what lies above waits for the collector.

${markdownTable(header, rows)}

## What was done

| What | Outcomes |
| --- | --- |
${Object.entries(played)
  .map(([title, outcomes]) => `| ${title} | ${outcomesText(outcomes)} |`)
  .join("\n")}
`;
}

function outcomesText(outcomes) {
  return Object.entries(outcomes)
    .map(([outcome, times]) => `${outcome}: ${times}`)
    .join(", ");
}
