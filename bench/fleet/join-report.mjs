import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";
import { median } from "../support/rounds.mjs";

/** Returns the results of `npm run join` as Markdown. */
export function joinReport({ packages, rounds, figures: { cold, warm, uploadMs }, load }) {
  const measures = {
    "Start of the process until ready": ({ readyMs }) => readyMs,
    "First request directly after that, of an app": ({ firstMs }) => firstMs,
    "First request of another random app (median of 10)": ({ othersMs }) => median(othersMs),
    "First request of another random app (longest of 10)": ({ othersMs }) => Math.max(...othersMs),
  };
  const rows = Object.entries(measures).map(([title, read]) => {
    const [ours, theirs] = [cold.map(read), warm.map(read)];
    const ratios = ours.map((value, round) => value / theirs[round]);
    return [title, spread(ours, 0), spread(theirs, 0), spread(ratios, 2)];
  });
  return `# Join of a new daemon

Made by \`npm run join -- --packages ${packages} --rounds ${rounds}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}; ${load}. \`sqld\`, \`docker-registry\`, the daemon and its isolates share it.

One daemon received ${packages.toLocaleString("en-US")} packages of 22 files each through its API in ${(uploadMs / 1000).toFixed(0)} s. Then, ${rounds} times in turn: a daemon with empty directories (cold), and the first daemon with all packages on its disk (warm). A cold first request downloads and unpacks the package. Both start an isolate. The operating system has the files of both in memory. Each start listed all packages.

Median, and in parentheses the least and the greatest value. The ratio is cold by warm within each round.

${markdownTable(["What", "Cold, ms", "Warm, ms", "Ratio"], rows)}
`;
}

function spread(values, digits) {
  return `${median(values).toFixed(digits)} (${Math.min(...values).toFixed(digits)}–${Math.max(...values).toFixed(digits)})`;
}
