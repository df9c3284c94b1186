import { describeMachine } from "../support/describe-run.mjs";
import { markdownTable } from "../support/markdown-table.mjs";
import { plot } from "../support/plot.mjs";
import { median } from "../support/rounds.mjs";

const megabyte = 1024 ** 2;

/**
 * Returns a picture with the number of daemons on the horizontal axis and one line per rate of changes. Returns undefined if no number of
 * daemons has results for each rate.
 */
export function simulationPlot({ rates, outcome: { steps } }) {
  const isMeasured = (count) =>
    steps.every(({ daemonCount, rate, delaysMs }) => daemonCount !== count || rate === 0 || delaysMs.length > 0);
  const counts = [...new Set(steps.map(({ daemonCount }) => daemonCount))].filter(isMeasured);
  if (counts.length === 0) return undefined;
  const measures = {
    sqld: ({ sqldShare }) => sqldShare * 100,
    requests: ({ requestsPerSecond, syncsPerSecond }) => requestsPerSecond + syncsPerSecond,
    median: ({ delaysMs }) => at(delaysMs, 0.5),
    p99: ({ delaysMs }) => at(delaysMs, 0.99),
  };
  const samples = counts.map((daemonCount) => {
    const sample = { daemonCount };
    for (const step of steps) {
      if (step.daemonCount !== daemonCount || step.rate === 0) continue;
      for (const [name, read] of Object.entries(measures)) sample[`${name} ${step.rate}`] = read(step);
    }
    return sample;
  });
  const titles = {
    sqld: "sqld: processor time, % of a core",
    requests: "sqld: requests and syncs per second",
    median: "Change visible in a daemon: median, ms",
    p99: "Change visible in a daemon: p99, ms",
  };
  const figures = Object.entries(titles).map(([name, title]) => ({ title, digits: 0, fields: rates.map((rate) => `${name} ${rate}`) }));
  return plot(samples, figures, [], { valueOf: ({ daemonCount }) => daemonCount, marks: counts.map((count) => [count, String(count)]) });
}

/** Returns the results of a run as Markdown. */
export function simulationReport({ packages, seconds, rates, processes, command, outcome, load, hasPicture }) {
  const { rowBytes, real, alone, together, steps } = outcome;
  const fetchSeconds = together.map(({ openMs }) => openMs / 1000);
  const failures = steps.reduce((sum, step) => sum + step.failures, 0);
  const incomplete = steps.filter(({ isComplete }) => !isComplete).length;
  return `# Simulation of many daemons

Made by \`npm run simulation${command === "" ? "" : ` -- ${command}`}\` on ${new Date().toISOString().slice(0, 10)}. Machine: ${describeMachine()}; ${load}. \`sqld\`, all daemons and other programs share it.

${packages.toLocaleString("en-US")} packages with ${(packages * 3).toLocaleString("en-US")} records, ${rowBytes.toFixed(0)} bytes of JSON per version. Each simulated daemon has the real code for keys, records, the index of packages, its registration and its heartbeats, and a replica and a syncer process of its own; it has no catalog, no HTTP server and no isolates. ${processes} processes contain all daemons. A daemon requests changes every second. The changes enable and disable packages at a further daemon. Each row is measured for ${seconds} s. ${failures} changes were rejected. ${incomplete === 0 ? "Each daemon received each accepted change." : `**In ${incomplete} rows, daemons lacked a change 20 s later.**`}

${hasPicture ? `![Figures by number of daemons; ${rates.map((rate, index) => `${["blue", "green", "purple"][index]}: ${rate}`).join(", ")} changes per second](simulation.svg)\n\n` : ""}## Load and propagation

Requests: HTTP requests of all daemons. Syncs: fetches of changes by the syncers. A percentage is that of one core. "Others" are the programs that do not belong to the simulation. "–": a syncer ended during the measurement, so its CPU time is unknown. Propagation: from the acknowledgement of a change until a daemon has it.

${markdownTable(
  [
    "Daemons",
    "Changes per s",
    "Requests per s",
    "Syncs per s",
    "sqld, %",
    "A daemon, %",
    "Others, %",
    "Median, ms",
    "p99, ms",
    "Worst, ms",
    "Samples",
  ],
  steps.map((step) => [
    step.daemonCount,
    step.rate,
    step.requestsPerSecond.toFixed(0),
    step.syncsPerSecond.toFixed(1),
    percent(step.sqldShare),
    percent(step.daemonShare),
    step.daemonShare < 0 ? "–" : percent(Math.max(0, step.otherShare)),
    ...[0.5, 0.99, 1].map((share) => (step.delaysMs.length === 0 ? "–" : at(step.delaysMs, share).toFixed(0))),
    step.delaysMs.length,
  ]),
)}

## Memory

Per daemon: the resident memory of the processes divided by their daemons, the JavaScript heap after a garbage collection, and the memory share (PSS) of the syncer. One daemon alone contains a whole Node.js (${megabytes(alone.empty.rssBytes)} MB resident and ${megabytes(alone.empty.heapBytes)} MB heap without a daemon).

${markdownTable(
  ["Daemons", "Resident, MB", "Heap, MB", "Syncer, MB", "sqld resident, MB"],
  [
    ["1, alone", megabytes(alone.memory.rssBytes), megabytes(alone.memory.heapBytes), megabytes(alone.memory.syncerBytes), "–"],
    ...steps
      .filter(({ daemonCount }, index) => steps[index + 1]?.daemonCount !== daemonCount)
      .map(({ daemonCount, memory, sqldRssBytes }) => [
        daemonCount,
        megabytes(memory.rssBytes),
        megabytes(memory.heapBytes),
        megabytes(memory.syncerBytes),
        megabytes(sqldRssBytes),
      ]),
    ["1, the real `runtimed`", megabytes(real.memory.rssBytes), megabytes(real.memory.heapBytes), megabytes(real.memory.syncerBytes), "–"],
  ],
)}

## First fetch and start

${markdownTable(
  ["What", "Time, s"],
  [
    ["One simulated daemon with an empty disk: all rows", (alone.fetchMs / 1000).toFixed(1)],
    ["The same daemon with its replica", (alone.openMs / 1000).toFixed(1)],
    [
      `${together.length} simulated daemons with empty disks at once: median, slowest`,
      `${median(fetchSeconds).toFixed(1)}, ${Math.max(...fetchSeconds).toFixed(1)}`,
    ],
    ["The real `runtimed` with an empty disk until ready (processor time)", times(real.cold)],
    ["The real `runtimed` with its replica until ready (processor time)", times(real.warm)],
  ],
)}
`;
}

function at(values, share) {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) * share)];
}

function times({ readyMs, cpuMs }) {
  return `${(readyMs / 1000).toFixed(1)} (${(cpuMs / 1000).toFixed(1)})`;
}

function percent(share) {
  return share < 0 ? "–" : (share * 100).toFixed(share < 0.1 ? 1 : 0);
}

function megabytes(bytes) {
  return (bytes / megabyte).toFixed(0);
}
