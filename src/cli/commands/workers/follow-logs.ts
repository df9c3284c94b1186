import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import { UnexpectedAnswerError, type ClientOf } from "../../../shared/client.js";
import type { LogEntry, logs } from "../../../shared/contract/worker-logs.js";
import { CommandError } from "../../command-error.js";
import type { Context } from "../../command.js";
import { exitCodes } from "../../exit-codes.js";

const firstWaitMs = 250;
const longestWaitMs = 5000;

type LogsClient = ClientOf<{ workers: { logs: typeof logs } }>;
type LogsInput = Parameters<LogsClient["workers"]["logs"]["follow"]>[0];

/** Shows entries as they come until the signal aborts. Goes on by the last one when the connection is lost, or the daemon restarts. */
export async function followLogs(
  { signal, output }: Pick<Context, "signal" | "output">,
  client: LogsClient,
  { input, show }: { input: LogsInput; show: (entry: LogEntry) => void },
): Promise<void> {
  let lastEventId: number | undefined;
  let wasOpen = false;
  let isLost = false;
  let waitMs = firstWaitMs;
  const onOpen = (): void => {
    if (isLost) output.note("connected again");
    wasOpen = true;
    isLost = false;
    waitMs = firstWaitMs;
  };
  while (!signal.aborted) {
    try {
      for await (const entry of client.workers.logs.follow(input, { signal, lastEventId, onOpen })) {
        show(entry);
        lastEventId = entry.id;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (!wasOpen || !mayPass(error)) throw error;
    }
    if (signal.aborted) return;
    if (!isLost) output.note("the connection was lost; trying again until it is back");
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
