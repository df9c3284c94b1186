import { CommandError } from "./command-error.js";
import type { Context } from "./command.js";
import type { ExitCode } from "./exit-codes.js";
import { followStream } from "./follow-stream.js";

/** Shows events until Ctrl-C, which is how following ends. Resolves with the exit code, without an error message. */
export async function followUntilInterrupted<Event extends { readonly id: number }>(
  { signal, output }: Context,
  show: (event: Event) => void,
  follow: Parameters<typeof followStream<Event>>[1],
): Promise<ExitCode | undefined> {
  const onLost = () => output.note("the connection was lost; trying again until it is back");
  const onBack = () => output.note("connected again");
  await followStream({ signal, show, onLost, onBack }, follow);
  return signal.reason instanceof CommandError ? signal.reason.exitCode : undefined;
}
