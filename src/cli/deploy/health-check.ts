import { setTimeout as delay } from "node:timers/promises";
import { parseDurationMs } from "../../shared/duration.js";
import { checkResponse, parseResponseCheck, type ResponseCheck } from "../client/response-check.js";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { Settings } from "../config/settings.js";

const defaultTimeoutMs = 30_000;
/** Time limit for one attempt. After an attempt that takes longer, a new attempt starts, until the total time limit is reached. */
const attemptTimeoutMs = 10_000;
const firstPauseMs = 100;
const longestPauseMs = 2_000;

/** The health check of a new version: path, accepted statuses and total time limit. */
export interface HealthCheck extends ResponseCheck {
  readonly timeoutMs: number;
}

export type HealthOutcome =
  | { readonly passed: true; readonly url: string; readonly status: number; readonly durationMs: number }
  | { readonly passed: false; readonly url: string; readonly reason: string };

/** Parses the values of `--check` and `--check-timeout`. Returns undefined without `--check`. Throws a usage error for an invalid value. */
export function parseHealthCheck(text: string | undefined, timeout: string | undefined): HealthCheck | undefined {
  const timeoutMs = timeout === undefined ? defaultTimeoutMs : parseDurationMs(timeout);
  if (timeoutMs === undefined || timeoutMs === 0)
    throw usageError(`--check-timeout: ${timeout} is not a duration such as 500ms, 30s or 5m`);
  return text === undefined ? undefined : { ...parseResponseCheck(text), timeoutMs };
}

/** Repeats the health check until it succeeds or the total time limit is reached. Sends no key. `base` is the URL of the worker. */
export async function checkHealth(
  context: Context,
  check: HealthCheck,
  { base, settings }: { base: string; settings: Settings },
): Promise<HealthOutcome> {
  const { origin, pathname } = new URL(base);
  const worker = pathname.replace(/\/$/, "");
  const url = origin + worker + check.path;
  const untilMs = performance.now() + check.timeoutMs;
  let reason: string | undefined;
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(longestPauseMs, pauseMs * 2)) {
    const leftMs = untilMs - performance.now();
    if (leftMs <= 0) return { passed: false, url, reason: reason ?? "the time limit was over before the first attempt" };
    const timeout = { value: Math.min(attemptTimeoutMs, Math.ceil(leftMs)), source: "--check-timeout" };
    const { status, tookMs, problem } = await checkResponse(
      context,
      { origin, settings: { ...settings, timeout } },
      { base: worker, check },
    );
    if (status !== undefined && problem === undefined) return { passed: true, url, status, durationMs: tookMs };
    // If the last attempt only exceeded its time limit, keeps the reason of an earlier attempt, which contains more information.
    if (status !== undefined || reason === undefined) reason = problem;
    await delay(Math.max(0, Math.min(pauseMs, untilMs - performance.now())), undefined, { signal: context.signal });
  }
}
