import { formatSize } from "../../shared/size.js";
import type { Context } from "../command/command.js";

const barWidth = 24;
/** Duration of a transfer from which the progress bar shows a rate. Rates over a shorter time vary too much. */
const firstRateMs = 1000;

export interface ProgressOptions {
  readonly label: string;
  readonly totalBytes: number;
  /** Text that is shown after all bytes have been sent, while the work is not yet complete. */
  readonly afterwards?: string;
}

/** Runs the work. If stderr is a terminal, shows a progress bar there. */
export async function withProgress<Result>(
  { io, terminal, flags, environment }: Context,
  { label, totalBytes, afterwards = label }: ProgressOptions,
  work: (onBytes: (count: number) => void) => Promise<Result>,
): Promise<Result> {
  if (!terminal.stderrIsTty || flags.quiet || flags.json || environment.TERM === "dumb") return work(() => {});
  const { default: ora } = await import("ora");
  const spinner = ora({ text: label, stream: io.stderr, discardStdin: false }).start();
  const startedAtMs = performance.now();
  let doneBytes = 0;
  try {
    return await work((count) => {
      doneBytes += count;
      const progress = { doneBytes, totalBytes, elapsedMs: performance.now() - startedAtMs };
      spinner.text = doneBytes < totalBytes ? `${label} ${describeProgress(progress)}` : afterwards;
    });
  } finally {
    spinner.stop();
  }
}

/**
 * Returns a progress text such as `███░░░ 1.0 MB of 2.0 MB, 1.0 MB/s, 1 s left`. During the first second, rate and remaining time are
 * omitted.
 */
export function describeProgress({
  doneBytes,
  totalBytes,
  elapsedMs,
}: {
  doneBytes: number;
  totalBytes: number;
  elapsedMs: number;
}): string {
  const amount = `${bar(doneBytes / totalBytes)} ${formatSize(doneBytes)} of ${formatSize(totalBytes)}`;
  if (elapsedMs < firstRateMs || doneBytes === 0) return amount;
  const bytesPerSecond = doneBytes / (elapsedMs / 1000);
  const leftSeconds = Math.ceil((totalBytes - doneBytes) / bytesPerSecond);
  const left = leftSeconds < 120 ? `${leftSeconds} s` : `${Math.ceil(leftSeconds / 60)} min`;
  return `${amount}, ${formatSize(bytesPerSecond)}/s, ${left} left`;
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * barWidth);
  return "█".repeat(filled) + "░".repeat(barWidth - filled);
}
