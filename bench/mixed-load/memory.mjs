import { median } from "../support/rounds.mjs";
import { slopePerMinute } from "../support/slope.mjs";

const names = ["A", "B", "C"];
/** By then caches are full, and every kind of work was done some times. */
const warmUpShare = 0.2;
const longestWarmUpMs = 5 * 60_000;
/** A figure is read from a window as long as this, or a fifth of a shorter run. */
const longestWindowMs = 60_000;

/**
 * What is watched of each daemon. `growth` is how much more there may be at the end than when it was warm. The heap's figure is the least of
 * a window: what lies above waits for the collector.
 */
const watched = [
  { field: "rssMb", title: "Resident memory of the daemons, MB", digits: 0, growth: 24 },
  { field: "heapMb", title: "JavaScript heap of the daemons, MB", digits: 1, growth: 12, least: true },
  { field: "isolatesPssMb", title: "Memory share of their isolates, MB", digits: 0, growth: 100 },
  { field: "descriptors", title: "Open descriptors of the daemons", digits: 0, growth: 100 },
  { field: "processes", title: "Processes below the daemons", digits: 0, growth: 10 },
  { field: "lagMs", title: "Event-loop delay of the daemons, p99, ms", digits: 1 },
];

/** The panels of the picture: those of the load, then those of the daemons with a line for each. */
export function figuresOf(daemonCount) {
  return [
    { field: "perSecond", title: "Requests served a second", digits: 0 },
    { field: "p99Ms", title: "Requests served: p99, ms", digits: 1 },
    ...watched.map((figure) => ({ ...figure, fields: names.slice(0, daemonCount).map((name) => `${figure.field} ${name}`) })),
  ];
}

/** A line for every figure of every daemon: when it was warm, at the end, how it changes a minute, and how in the last third. */
export function judgeMemory(samples, { untilMs, daemonCount }) {
  const warmMs = Math.min(longestWarmUpMs, untilMs * warmUpShare);
  const windowMs = Math.min(longestWindowMs, untilMs / 5);
  const steady = samples.filter(({ timeMs }) => timeMs >= warmMs && timeMs < untilMs);
  const early = steady.filter(({ timeMs }) => timeMs < warmMs + windowMs);
  const late = steady.filter(({ timeMs }) => timeMs >= untilMs - windowMs);
  const lastThird = steady.filter(({ timeMs }) => timeMs >= untilMs - (untilMs - warmMs) / 3);
  return watched.flatMap((figure) =>
    names.slice(0, daemonCount).map((name) => {
      const field = `${figure.field} ${name}`;
      const read = (window) => {
        const values = window.map((sample) => sample[field]);
        return figure.least ? Math.min(...values) : median(values);
      };
      const [before, after] = [read(early), read(late)];
      const hasGrown = figure.growth !== undefined && !(after - before <= figure.growth);
      const problems = hasGrown ? [`${figure.title}: ${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`] : [];
      const [slope, lastSlope] = [steady, lastThird].map((window) => slopePerMinute(window, field));
      return { ...figure, name, before, after, slope, lastSlope, problems };
    }),
  );
}
