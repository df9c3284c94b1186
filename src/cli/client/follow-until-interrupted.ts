import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { ExitCode } from "../command/exit-codes.js";
import { streamWithReconnect } from "./follow-stream.js";

/** Shows events until Ctrl-C, which is how following ends. Resolves with the exit code, without an error message. */
export async function followUntilInterrupted<Event extends { readonly id: number }>(
  { signal, output }: Context,
  show: (event: Event) => void,
  follow: Parameters<typeof streamWithReconnect<Event>>[1],
): Promise<ExitCode | undefined> {
  const onLost = () => output.note("the connection was lost; trying again until it is back");
  const onBack = () => output.note("connected again");
  await streamWithReconnect({ signal, show, onLost, onBack }, follow);
  return signal.reason instanceof CommandError ? signal.reason.exitCode : undefined;
}
