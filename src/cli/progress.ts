import { formatSize } from "../shared/size.js";
import type { Context } from "./command.js";

const barWidth = 24;

export interface ProgressOptions {
  readonly label: string;
  readonly totalBytes: number;
}

/** Shows a byte progress bar on stderr while the work runs, when a person is looking; silent otherwise. */
export async function withProgress<Result>(
  { io, terminal, flags, environment }: Context,
  { label, totalBytes }: ProgressOptions,
  work: (onBytes: (count: number) => void) => Promise<Result>,
): Promise<Result> {
  if (!terminal.stderrIsTty || flags.quiet || flags.json || environment.TERM === "dumb") return work(() => {});
  const { default: ora } = await import("ora");
  const spinner = ora({ text: label, stream: io.stderr, discardStdin: false }).start();
  let sentBytes = 0;
  try {
    return await work((count) => {
      sentBytes += count;
      spinner.text =
        sentBytes < totalBytes
          ? `${label} ${bar(sentBytes / totalBytes)} ${formatSize(sentBytes)} of ${formatSize(totalBytes)}`
          : "installing";
    });
  } finally {
    spinner.stop();
  }
}

function bar(share: number): string {
  const filled = Math.round(Math.min(1, share) * barWidth);
  return "█".repeat(filled) + "░".repeat(barWidth - filled);
}
