import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { Settings } from "../config/settings.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import { HttpClient } from "./http-client.js";
import { version } from "../version.js";

/** What a worker is asked for, to see whether it works. */
export interface AnswerCheck {
  /** Below the worker's base; starts with a slash. */
  readonly path: string;
  readonly accepts: (status: number) => boolean;
  readonly expected: string;
}

export interface CheckedAnswer {
  /** Undefined when there was no answer at all. */
  readonly status: number | undefined;
  readonly tookMs: number;
  /** What is wrong with the answer, if anything. */
  readonly problem: string | undefined;
}

/** Without a path to ask for, any answer proves that the worker runs, unless it says itself that it failed. */
export const anyAnswer: AnswerCheck = { path: "/", accepts: (status) => status < 500, expected: "a status below 500" };

/** Reads `PATH` or `PATH=STATUS`. */
export function parseAnswerCheck(text: string): AnswerCheck {
  const [, path = "", wanted] = /^(.*?)(?:=(\d+))?$/.exec(text) ?? [];
  if (!/^\/[\x21-\x22\x24-\x7e]*$/.test(path))
    throw usageError(`--check ${JSON.stringify(text)} is no path`, "write a path below the worker, such as /health, or /health=204");
  if (wanted !== undefined && !/^[1-5]\d\d$/.test(wanted))
    throw usageError(`--check: ${wanted} is not an HTTP status`, "--check /health=204");
  if (wanted === undefined) return { path, accepts: (status) => status >= 200 && status < 400, expected: "a status from 200 to 399" };
  return { path, accepts: (status) => status === Number(wanted), expected: `status ${wanted}` };
}

/** Asks a worker once, without any key; follows no redirect. `base` is the worker's, such as `/@team/app@1.2.0`. */
export async function checkAnswer(
  { signal, output }: Pick<Context, "signal" | "output">,
  { origin, settings }: { origin: string; settings: Settings },
  { base, check }: { base: string; check: AnswerCheck },
): Promise<CheckedAnswer> {
  const path = base + check.path;
  const limitMs = settings.timeout.value;
  const timeout = AbortSignal.timeout(limitMs);
  const request = { method: "GET", path, headers: { accept: "*/*", "user-agent": `runtimectl/${version}` } };
  const startedAtMs = Date.now();
  output.trace(`> GET ${origin}${path}`);
  try {
    const { statusCode: status, body } = await new HttpClient(origin, settings).send(
      request,
      undefined,
      AbortSignal.any([signal, timeout]),
    );
    await body.dump();
    const tookMs = Date.now() - startedAtMs;
    output.trace(`< ${status} in ${tookMs} ms`);
    return { status, tookMs, problem: check.accepts(status) ? undefined : `status ${status} instead of ${check.expected}` };
  } catch (error) {
    signal.throwIfAborted();
    const failure = timeout.aborted ? timeoutFailure(origin, limitMs) : connectionFailure({ origin, proxy: settings.proxy?.value }, error);
    return { status: undefined, tookMs: Date.now() - startedAtMs, problem: failure instanceof Error ? failure.message : String(failure) };
  }
}
