import { CommandError } from "./command-error.js";
import type { Context } from "./command.js";
import { followStream } from "./follow-stream.js";

/** Shows events until Ctrl-C, which is how following ends: no word about it, only the exit code. */
export async function followUntilInterrupted<Event extends { readonly id: number }>(
  { signal, output }: Context,
  show: (event: Event) => void,
  follow: Parameters<typeof followStream<Event>>[1],
): Promise<void> {
  const onLost = () => output.note("the connection was lost; trying again until it is back");
  const onBack = () => output.note("connected again");
  await followStream({ signal, show, onLost, onBack }, follow);
  if (signal.reason instanceof CommandError) process.exitCode = signal.reason.exitCode;
}
