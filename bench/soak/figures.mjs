/**
 * What is watched. `growth` is how much more there may be at the end of the trouble than after its beginning; `left`, how much more when all
 * trouble is over than before it began. The heap's figure is the least of a window: what lies above waits for the collector.
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
