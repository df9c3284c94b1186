import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { UnexpectedAnswerError, type FollowOptions } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import type { Context } from "../command/command.js";

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** The callbacks for the events of a stream, and the signal that ends the stream. */
export interface StreamReader<Event> {
  readonly signal: AbortSignal;
  readonly show: (event: Event) => void;
  /** Callback that runs when the connection is lost. The client then reconnects. */
  readonly onLost: () => void;
  /** Callback that runs when the stream is connected again. */
  readonly onBack: () => void;
}

/**
 * Calls `show` with each event until the signal aborts. After a lost connection or a restart of the daemon, the stream continues after the
 * last received event.
 */
export async function streamWithReconnect<Event>(
  { signal, show, onLost, onBack }: StreamReader<Event>,
  follow: (options: FollowOptions) => AsyncIterable<Event>,
  { onOpen }: { readonly onOpen?: (() => void) | undefined } = {},
): Promise<void> {
  let lastEventId: string | undefined;
  let wasOpen = false;
  let isLost = false;
  let waitMs = firstWaitMs;
  const opened = (): void => {
    if (isLost) onBack();
    else onOpen?.();
    wasOpen = true;
    isLost = false;
    waitMs = firstWaitMs;
  };
  while (!signal.aborted) {
    try {
      const onPosition = (position: string) => (lastEventId = position);
      for await (const event of follow({ signal, lastEventId, onPosition, onOpen: opened })) show(event);
    } catch (error) {
      if (signal.aborted) return;
      if (!wasOpen || !mayPass(error)) throw error;
    }
    if (signal.aborted) return;
    if (!isLost) onLost();
    isLost = true;
    await delay(waitMs, undefined, { signal }).catch(() => undefined);
    waitMs = Math.min(waitMs * 2, longestWaitMs);
  }
}

/** Whether the error can be temporary, such as during a restart of the daemon or a proxy. If so, another connection attempt can succeed. */
function mayPass(error: unknown): boolean {
  if (error instanceof CommandError) return error.exitCode === exitCodes.unavailable;
  return (error instanceof ApiError || error instanceof UnexpectedAnswerError) && error.status >= 500;
}

/**
 * Calls `show` with each event until the user presses Ctrl-C. Resolves with the exit code and prints no error, because Ctrl-C is the normal
 * end of a stream.
 */
export async function followUntilInterrupted<Event>(
  { signal, output }: Context,
  show: (event: Event) => void,
  follow: Parameters<typeof streamWithReconnect<Event>>[1],
): Promise<ExitCode | undefined> {
  const onLost = () => output.note("connection lost; reconnecting");
  const onBack = () => output.note("reconnected");
  await streamWithReconnect({ signal, show, onLost, onBack }, follow);
  return signal.reason instanceof CommandError ? signal.reason.exitCode : undefined;
}
