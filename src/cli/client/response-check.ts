import { daemonErrorIn } from "../../shared/daemon-error.js";
import { usageError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import type { Settings } from "../config/settings.js";
import { connectionFailure, timeoutFailure } from "./connection-failure.js";
import { HttpClient } from "./http-client.js";
import { version } from "../version.js";

/** A health check: the path to request from a worker, and the HTTP statuses that count as success. */
export interface ResponseCheck {
  /** Path of the request, relative to the worker's base path. Starts with a slash. */
  readonly path: string;
  readonly accepts: (status: number) => boolean;
  readonly expected: string;
}

export interface CheckedResponse {
  /** HTTP status of the response. Undefined if no response arrived. */
  readonly status: number | undefined;
  readonly tookMs: number;
  /** Reason why the health check failed. Undefined if the health check passed. */
  readonly problem: string | undefined;
  /** Message of the daemon in a response with status 500 or higher. Undefined if the response comes from the worker itself. */
  readonly reason?: string | undefined;
}

/** The default health check of a worker. Accepts any status below 500, because such a status proves that the worker runs. */
export const anyResponse: ResponseCheck = { path: "/", accepts: (status) => status < 500, expected: "a status below 500" };

/** Parses a health check of the form `PATH` or `PATH=STATUS`. Throws a usage error for other texts. */
export function parseResponseCheck(text: string): ResponseCheck {
  const [, path = "", wanted] = /^(.*?)(?:=(\d+))?$/.exec(text) ?? [];
  if (!/^\/[\x21-\x22\x24-\x7e]*$/.test(path))
    throw usageError(`--check ${JSON.stringify(text)} is not a path`, "use a path of the worker, such as /health or /health=204");
  if (wanted !== undefined && !/^[1-5]\d\d$/.test(wanted))
    throw usageError(`--check: ${wanted} is not an HTTP status`, "use a status from 100 to 599, such as --check /health=204");
  if (wanted === undefined) return { path, accepts: (status) => status >= 200 && status < 400, expected: "a status from 200 to 399" };
  return { path, accepts: (status) => status === Number(wanted), expected: `status ${wanted}` };
}

/**
 * Sends one request to a worker, without a key, and checks the response. Does not follow redirects. `base` is the path of the worker, such
 * as `/@team/app@1.2.0`.
 */
export async function checkResponse(
  { signal, output }: Pick<Context, "signal" | "output">,
  { origin, settings }: { origin: string; settings: Settings },
  { base, check }: { base: string; check: ResponseCheck },
): Promise<CheckedResponse> {
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
    const reason = status < 500 ? await body.dump().then(() => undefined) : daemonErrorIn(await beginningOf(body));
    const tookMs = Date.now() - startedAtMs;
    output.trace(`< ${status} in ${tookMs} ms`);
    return { status, tookMs, problem: check.accepts(status) ? undefined : `status ${status} instead of ${check.expected}`, reason };
  } catch (error) {
    signal.throwIfAborted();
    const failure = timeout.aborted ? timeoutFailure(origin, limitMs) : connectionFailure({ origin, proxy: settings.proxy?.value }, error);
    return { status: undefined, tookMs: Date.now() - startedAtMs, problem: failure instanceof Error ? failure.message : String(failure) };
  }
}

/** Maximum number of bytes to read from an error body. The daemon's errors are shorter, but a worker can send any number of bytes. */
const longestErrorBytes = 64 * 1024;

async function beginningOf(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= longestErrorBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
