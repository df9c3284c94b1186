import { median } from "../support/rounds.mjs";
import { slopePerMinute } from "../support/slope.mjs";

const names = ["A", "B", "C"];
/** Share of the run after which caches are full and each kind of work has run several times. */
const warmUpShare = 0.2;
const longestWarmUpMs = 5 * 60_000;
/** Maximum length of the window from which a value is read. In a short run, the window is a fifth of the run. */
const longestWindowMs = 60_000;

/**
 * The values that are sampled for each daemon. `growth` is the maximum increase from the warm state to the end. Memory and heap are compared
 * by their minimum in each half of the steady time: garbage is collected late, and resident memory rises for up to 13 minutes before V8
 * returns it.
 */
const watched = [
  { field: "rssMb", title: "Resident memory of the daemons, MB", digits: 0, growth: 24, least: true },
  { field: "heapMb", title: "JavaScript heap of the daemons, MB", digits: 1, growth: 12, least: true },
  { field: "isolatesPssMb", title: "Memory share of their isolates, MB", digits: 0, growth: 100 },
  { field: "descriptors", title: "Open descriptors of the daemons", digits: 0, growth: 100 },
  { field: "processes", title: "Processes below the daemons", digits: 0, growth: 10 },
  { field: "lagMs", title: "Event-loop delay of the daemons, p99, ms", digits: 1 },
];

/** Returns the panels of the picture: first those of the load, then those of the daemons with one line per daemon. */
export function figuresOf(daemonCount) {
  return [
    { field: "perSecond", title: "Requests served a second", digits: 0 },
    { field: "p99Ms", title: "Requests served: p99, ms", digits: 1 },
    ...watched.map((figure) => ({ ...figure, fields: names.slice(0, daemonCount).map((name) => `${figure.field} ${name}`) })),
  ];
}

/** Returns one line per value and daemon: the warm state, the end, the slope per minute, and the slope in the last third of the run. */
export function judgeMemory(samples, { untilMs, daemonCount }) {
  const warmMs = Math.min(longestWarmUpMs, untilMs * warmUpShare);
  const windowMs = Math.min(longestWindowMs, untilMs / 5);
  const steady = samples.filter(({ timeMs }) => timeMs >= warmMs && timeMs < untilMs);
  const early = steady.filter(({ timeMs }) => timeMs < warmMs + windowMs);
  const late = steady.filter(({ timeMs }) => timeMs >= untilMs - windowMs);
  const halfMs = (warmMs + untilMs) / 2;
  const [firstHalf, secondHalf] = [steady.filter(({ timeMs }) => timeMs < halfMs), steady.filter(({ timeMs }) => timeMs >= halfMs)];
  const lastThird = steady.filter(({ timeMs }) => timeMs >= untilMs - (untilMs - warmMs) / 3);
  return watched.flatMap((figure) =>
    names.slice(0, daemonCount).map((name) => {
      const field = `${figure.field} ${name}`;
      const valuesIn = (window) => window.map((sample) => sample[field]);
      const [before, after] = figure.least
        ? [Math.min(...valuesIn(firstHalf)), Math.min(...valuesIn(secondHalf))]
        : [median(valuesIn(early)), median(valuesIn(late))];
      const hasGrown = figure.growth !== undefined && !(after - before <= figure.growth);
      const problems = hasGrown ? [`${figure.title}: ${name} grew from ${before.toFixed(1)} to ${after.toFixed(1)}`] : [];
      const [slope, lastSlope] = [steady, lastThird].map((window) => slopePerMinute(window, field));
      return { ...figure, name, before, after, slope, lastSlope, problems };
    }),
  );
}
