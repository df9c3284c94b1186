import { setTimeout as delay } from "node:timers/promises";
import type { Instance } from "../../../shared/contract/instances.js";
import { CommandError } from "../../command/command-error.js";
import type { Context } from "../../command/command.js";
import { exitCodes } from "../../command/exit-codes.js";
import { pluralize } from "../../output/format.js";

/** Pause between two requests. The pause limits the load, because the daemon sends a request to every other daemon for each request. */
const pauseMs = 1000;

interface DrainWait {
  readonly name: string;
  readonly id: string;
  readonly timeoutMs: number;
  /** Returns the current list entry of the daemon. */
  readonly find: () => Promise<Instance | undefined>;
}

/** Waits until the daemon drains and has no request in flight. Throws DRAIN_TIMEOUT after `timeoutMs`. */
export async function waitUntilDrained({ signal }: Context, { name, id, timeoutMs, find }: DrainWait): Promise<void> {
  const untilMs = performance.now() + timeoutMs;
  for (;;) {
    const instance = await find();
    if (instance?.state === "draining" && instance.requestsInFlight === 0) return;
    if (performance.now() >= untilMs)
      throw new CommandError("DRAIN_TIMEOUT", `${name} ${describe(instance)} after ${timeoutMs / 1000} s, and stays drained`, {
        exitCode: exitCodes.failed,
        hint: `runtimectl instances drain ${id} --undo`,
      });
    await delay(Math.max(0, Math.min(pauseMs, untilMs - performance.now())), undefined, { signal });
  }
}

function describe(instance: Instance | undefined): string {
  if (instance?.state !== "draining") return `is ${instance?.state ?? "not listed"}`;
  return instance.requestsInFlight === undefined
    ? "does not report its requests in flight"
    : `has ${pluralize(instance.requestsInFlight, "request")} in flight`;
}
