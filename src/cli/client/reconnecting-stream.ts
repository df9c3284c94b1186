import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { UnexpectedAnswerError, type FollowOptions } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes, type ExitCode } from "../command/exit-codes.js";
import type { Context } from "../command/command.js";

const firstWaitMs = 250;
const longestWaitMs = 5000;

/** Who follows, and until when. */
export interface StreamReader<Event> {
  readonly signal: AbortSignal;
  readonly show: (event: Event) => void;
  /** The connection is lost; it is tried again from now on. */
  readonly onLost: () => void;
  /** It is there again. */
  readonly onBack: () => void;
}

/** Shows events as they come until the signal aborts. Goes on by the last one when the connection is lost, or the daemon restarts. */
export async function streamWithReconnect<Event extends { readonly id: number }>(
  { signal, show, onLost, onBack }: StreamReader<Event>,
  follow: (options: FollowOptions) => AsyncIterable<Event>,
  { onOpen }: { readonly onOpen?: (() => void) | undefined } = {},
): Promise<void> {
  let lastEventId: number | undefined;
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
      for await (const event of follow({ signal, lastEventId, onOpen: opened })) {
        show(event);
        lastEventId = event.id;
      }
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

/** The daemon restarts, or something on the way to it does. */
function mayPass(error: unknown): boolean {
  if (error instanceof CommandError) return error.exitCode === exitCodes.unavailable;
  return (error instanceof ApiError || error instanceof UnexpectedAnswerError) && error.status >= 500;
}

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
