import type { FollowOptions as ClientFollowOptions } from "../../shared/client.js";
import { ApiError } from "../../shared/api-error.js";
import { pause } from "./pause.js";

const firstRetryMs = 1000;
/** Longest pause between attempts to open a stream. The pause doubles after each failure up to this limit. */
const longestRetryMs = 15_000;

export type StreamPhase = "connecting" | "live" | "lost" | "refused";

/**
 * Opens a stream after the position `lastEventId`. Calls `onOpen` when the daemon responds, and `onPosition` with the position of each
 * item.
 */
export type OpenStream<Received> = (
  options: Required<Pick<ClientFollowOptions, "lastEventId" | "onOpen" | "onPosition">>,
) => AsyncIterable<Received>;

interface FollowOptions<Received> {
  readonly signal: AbortSignal;
  readonly take: (received: Received) => void;
  /** Callback that receives each change of the phase. `error` is defined only for the phase `refused`. */
  readonly onPhase: (phase: Exclude<StreamPhase, "connecting">, error: unknown) => void;
}

/** Follows a stream until the signal aborts. After a lost connection, the stream continues after the last received item. */
export async function followStream<Received>(
  open: OpenStream<Received>,
  { signal, take, onPhase }: FollowOptions<Received>,
): Promise<void> {
  let lastEventId: string | undefined;
  const onPosition = (position: string) => void (lastEventId = position);
  let retryMs = firstRetryMs;
  while (!signal.aborted) {
    try {
      const onOpen = () => {
        retryMs = firstRetryMs;
        onPhase("live", undefined);
      };
      for await (const received of open({ lastEventId, onOpen, onPosition })) take(received);
    } catch (error) {
      if (signal.aborted) return;
      // After a 401, the user can sign in again on the same page, so the stream is not final. Every other rejection with a status below 500
      // is final.
      if (error instanceof ApiError && error.status < 500 && error.status !== 401) return onPhase("refused", error);
    }
    if (signal.aborted) return;
    onPhase("lost", undefined);
    await pause(retryMs, signal);
    retryMs = Math.min(retryMs * 2, longestRetryMs);
  }
}
