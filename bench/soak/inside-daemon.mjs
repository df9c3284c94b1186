// Loaded into the daemon before it starts (node --import): tells each second, on a line of its own, what only the process itself knows.
import { monitorEventLoopDelay } from "node:perf_hooks";

const resolutionMs = 10;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
const timer = setInterval(() => {
  const { heapUsed, external } = process.memoryUsage();
  // The histogram counts from one tick to the next: what exceeds the tick is the delay.
  const lagMs = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
  delays.reset();
  process.stdout.write(`inside ${JSON.stringify({ heapBytes: heapUsed, externalBytes: external, lagMs })}\n`);
}, 1_000);
timer.unref();
