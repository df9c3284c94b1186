// Loaded into the daemon with `node --import`. Prints each second one line with values that only the process itself can measure.
import { monitorEventLoopDelay } from "node:perf_hooks";

const resolutionMs = 10;
const delays = monitorEventLoopDelay({ resolution: resolutionMs });
delays.enable();
const timer = setInterval(() => {
  const { heapUsed, external } = process.memoryUsage();
  // The histogram contains the time between two ticks. The delay is the part that exceeds the length of a tick.
  const lagMs = Math.max(0, delays.percentile(99) / 1e6 - resolutionMs);
  delays.reset();
  process.stdout.write(`inside ${JSON.stringify({ heapBytes: heapUsed, externalBytes: external, lagMs })}\n`);
}, 1_000);
timer.unref();
