/**
 * The sampled values. `growth`: maximum increase while faults occur; `left`: maximum increase after all faults. The heap value is the
 * minimum of a window, because garbage is collected late.
 */
export const figures = [
  { field: "perSecond", title: "Neighbour: requests a second", digits: 0 },
  { field: "p99Ms", title: "Neighbour: p99, ms", digits: 1 },
  { field: "processes", title: "Processes below the daemon", digits: 0, growth: 12, left: 2 },
  { field: "descriptors", title: "Open descriptors of the daemon", digits: 0, growth: 150, left: 10 },
  { field: "rssMb", title: "Resident memory of the daemon, MB", digits: 0, growth: 48 },
  { field: "pssMb", title: "Memory share (PSS) of the daemon, MB", digits: 0, growth: 48 },
  { field: "heapMb", title: "JavaScript heap of the daemon, MB", digits: 1, growth: 12, least: true },
  { field: "isolatesPssMb", title: "Memory share of all isolates, MB", digits: 0, growth: 400, left: 40 },
  { field: "lagMs", title: "Event-loop delay of the daemon, p99, ms", digits: 1 },
];
