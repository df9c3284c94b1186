import { randomUUID } from "node:crypto";
import type { Agent } from "undici";
import { ApiError } from "../../shared/api-error.js";
import {
  createClient,
  UnexpectedAnswerError,
  type ClientOf,
  type FollowOptions,
  type Operations,
  type Transport,
} from "../../shared/client.js";
import { runtime } from "../../shared/contract/discovery.js";
import { isInstanceUrl, isLoopbackUrl } from "../config/instance.js";
import { CallLimiter } from "./call-limiter.js";
import type { RegisteredInstance } from "./instance-registry.js";
import { proofOf } from "./own-instance.js";

/** Time limit in ms for one call. Includes the wait for other calls to end, and all requests to the daemon. */
const deadlineMs = 2_000;
/** Maximum number of calls of this daemon that run at the same time. */
const mostAtOnce = 16;
/**
 * Maximum number of calls to one daemon that run at the same time. Below `mostAtOnce`, so that one daemon without a response does not block
 * calls to the others.
 */
const mostPerDaemon = 4;
/**
 * Time in ms after a call without a response in which the same call fails immediately. The time is longer than the 1 to 5 s between two
 * requests of a panel or dashboard, but short for an operator who repeats a command.
 */
const silenceMemoryMs = 6_000;
/** Maximum number of daemons without a response that this daemon checks at the same time. */
const mostChecksAtOnce = 4;
/** Maximum size of a response in bytes. */
const longestResponseBytes = 16 * 1024 * 1024;
/** Maximum length in characters of an error message from another daemon that this daemon passes on. */
const longestProblem = 500;
/** Time in ms without any byte after which a stream has failed. Daemons send a comment every 15 s. */
const streamSilenceMs = 45_000;

/**
 * Result of another daemon, or one sentence with the reason why the daemon returned no result. `starting`: the daemon is still opening its
 * services.
 */
export type InstanceResponse<Result> =
  | { readonly result: Result }
  | { readonly state: "starting" | "unreachable"; readonly problem: string };

type CalledInstance = Pick<RegisteredInstance, "id" | "run" | "url">;

/** A call to another daemon. The call can use the operations in `offered`, and sends the key of a caller. */
export interface InstanceRequest<Offered extends Operations, Result> {
  readonly key: string;
  readonly offered: Offered;
  /** `id` is the id of the daemon. */
  readonly call: (client: ClientOf<Offered>, id: string) => Promise<Result>;
}

/** A stream from another daemon. The stream can use the operations in `offered`, and sends the key of a caller. */
export interface InstanceStream<Offered extends Operations, Event> {
  readonly key: string;
  readonly offered: Offered;
  readonly follow: (client: ClientOf<Offered>, options: FollowOptions) => AsyncGenerator<Event, void>;
}

/**
 * HTTP client for the APIs of other daemons. Sends the caller's key in `X-API-Key`. Before that, the process at the registered address must
 * prove that it is the process that registered the address. Sends no cookies and follows no redirects.
 */
export class InstanceClient {
  readonly #ownUrl: string | undefined;
  readonly #callLimiter = new CallLimiter({ total: mostAtOnce, perDaemon: mostPerDaemon });
  /**
   * Times on the clock of `performance.now()` until which calls fail immediately. The map key is the run of a daemon that did not send its
   * discovery document, or a run and the path of a request that got no response.
   */
  readonly #silentUntilMs = new Map<string, number>();
  readonly #checkedRuns = new Set<string>();
  #agent: Promise<Agent> | undefined;
  /**
   * Connections for discovery documents only, so that slow calls do not delay them. A missing discovery document shows that a daemon does
   * not respond.
   */
  #discoveryAgent: Promise<Agent> | undefined;
  /** Each stream occupies a connection, so streams do not share the connections of calls. */
  #streamAgent: Promise<Agent> | undefined;

  /** `ownUrl` is the origin at which the other daemons call this one, if the operator has configured it. */
  constructor(ownUrl: string | undefined) {
    this.#ownUrl = ownUrl;
  }

  /**
   * Calls operations of a daemon with the caller's key. Returns a problem instead of throwing. After a missing discovery document, all
   * calls fail immediately while background checks run. After a slow operation, only the same request fails.
   */
  async ask<Offered extends Operations, Result>(
    instance: CalledInstance,
    { key, offered, call }: InstanceRequest<Offered, Result>,
  ): Promise<InstanceResponse<Result>> {
    const signal = AbortSignal.timeout(deadlineMs);
    return this.#reach(instance, signal, async (origin, api) =>
      call(createClient(this.#callTransport({ origin, run: instance.run, key }, signal), api, offered), instance.id),
    );
  }

  /**
   * Opens a stream from a daemon with the key of the caller. The time limit of a call applies only to the opening. The stream ends when
   * `until` aborts, and throws if the connection is lost or silent for 45 s.
   */
  async follow<Offered extends Operations, Event>(
    instance: CalledInstance,
    { key, offered, follow }: InstanceStream<Offered, Event>,
    until: AbortSignal,
  ): Promise<InstanceResponse<AsyncIterable<Event>>> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(new DOMException("The time limit has passed.", "TimeoutError")), deadlineMs);
    const signal = AbortSignal.any([until, deadline.signal]);
    try {
      return await this.#reach(instance, signal, async (origin, api) => {
        const opened = Promise.withResolvers<void>();
        const client = createClient(this.#callTransport({ origin, run: instance.run, key }, signal), api, offered);
        const events = follow(client, { signal, onOpen: () => opened.resolve() });
        const first = events.next();
        await Promise.race([opened.promise, first]);
        return startingWith(first, events);
      });
    } finally {
      clearTimeout(timer);
    }
  }

  async close(): Promise<void> {
    for (const agent of [this.#agent, this.#discoveryAgent, this.#streamAgent]) await (await agent)?.destroy();
  }

  /** Runs `use` with the origin and the API path of a daemon that has proved its identity. */
  async #reach<Result>(
    instance: CalledInstance,
    signal: AbortSignal,
    use: (origin: string, api: string) => Promise<Result>,
  ): Promise<InstanceResponse<Result>> {
    const { run, url } = instance;
    const ownUrl = this.#ownUrl;
    if (url === undefined) return unreachable("Its RUNTIME_INSTANCE_URL is not set.");
    if (!isInstanceUrl(url)) return unreachable("Its address is neither https nor a private address.");
    if (isLoopbackUrl(url) && (ownUrl === undefined || !isLoopbackUrl(ownUrl)))
      return unreachable("Its address is a loopback address, and RUNTIME_INSTANCE_URL of the asking daemon is not.");
    if (this.#isSilent(run)) {
      void this.#check({ ...instance, url });
      return silent();
    }
    if (!(await this.#callLimiter.acquire(run, signal)))
      return unreachable("The daemon that received the request already sends the maximum number of requests to other daemons.");
    const startedMs = performance.now();
    let isFound = false;
    try {
      // Checks again, because an earlier call can have ended without a response while this call waited for other calls.
      if (this.#isSilent(run)) return silent();
      const api = await this.#findApi({ ...instance, url }, signal);
      if (api === undefined) return unreachable("Another program or daemon responds at its address.");
      isFound = true;
      return { result: await use(url, api) };
    } catch (error) {
      // Treats a daemon as silent only if its discovery document is missing. A slow operation does not prove that the daemon is silent.
      if (!isFound && isTimeout(signal, startedMs)) this.#noteSilence(run);
      return isFound && signal.aborted ? slow() : toResponse(error, signal);
    } finally {
      this.#callLimiter.release(run);
    }
  }

  /** Returns the path of the API if the run of the daemon proves its identity at its address. Sends no key. */
  async #findApi(instance: ReachableInstance, signal: AbortSignal): Promise<string | undefined> {
    const challenge = randomUUID();
    const agent = () => (this.#discoveryAgent ??= createAgent(mostPerDaemon));
    const transport = transportOf({ origin: instance.url, agent, credential: {} }, signal);
    const { discovery } = createClient(transport, "", { discovery: { runtime } });
    const found = await discovery.runtime({ query: { challenge } });
    return found.instance === instance.id && found.proof === proofOf(instance, challenge) ? found.api : undefined;
  }

  /** Checks whether a silent daemon responds again. Does nothing if a check of this daemon or the maximum number of checks is running. */
  async #check(instance: ReachableInstance): Promise<void> {
    const { run } = instance;
    if (this.#checkedRuns.has(run) || this.#checkedRuns.size >= mostChecksAtOnce) return;
    this.#checkedRuns.add(run);
    const signal = AbortSignal.timeout(deadlineMs);
    try {
      await this.#findApi(instance, signal);
      this.#silentUntilMs.delete(run);
    } catch {
      if (signal.aborted) this.#noteSilence(run);
      else this.#silentUntilMs.delete(run);
    } finally {
      this.#checkedRuns.delete(run);
    }
  }

  #noteSilence(run: string): void {
    const nowMs = performance.now();
    for (const [earlier, untilMs] of this.#silentUntilMs) if (untilMs <= nowMs) this.#silentUntilMs.delete(earlier);
    this.#silentUntilMs.set(run, nowMs + silenceMemoryMs);
  }

  #isSilent(runOrRequest: string): boolean {
    return (this.#silentUntilMs.get(runOrRequest) ?? 0) > performance.now();
  }

  #callTransport({ origin, run, key }: { origin: string; run: string; key: string }, signal: AbortSignal): Transport {
    const credential = { "x-api-key": key };
    return async (request) => {
      const agent = () => (request.streamUntil ? (this.#streamAgent ??= createAgent()) : (this.#agent ??= createAgent(mostPerDaemon)));
      const name = `${run} ${request.path}`;
      if (this.#isSilent(name)) throw new SlowRequestError();
      const startedMs = performance.now();
      try {
        return await transportOf({ origin, agent, credential }, signal)(request);
      } catch (error) {
        if (isTimeout(signal, startedMs)) this.#noteSilence(name);
        throw error;
      }
    };
  }
}

interface TransportOptions {
  readonly origin: string;
  readonly agent: () => Promise<Agent>;
  /** Headers that authenticate the caller. */
  readonly credential: Readonly<Record<string, string>>;
}

function transportOf({ origin, agent, credential }: TransportOptions, signal: AbortSignal): Transport {
  return async ({ method, path, headers, streamUntil }) => {
    const request = { origin, path, method, headers: { ...headers, ...credential }, signal };
    const response = await (await agent()).request(streamUntil ? { ...request, bodyTimeout: streamSilenceMs } : request);
    if (streamUntil && response.statusCode === 200)
      return { status: 200, requestId: undefined, text: "", pieces: response.body as AsyncIterable<Uint8Array> };
    const parts: Buffer[] = [];
    let size = 0;
    for await (const part of response.body) {
      size += (part as Buffer).length;
      if (size > longestResponseBytes) throw new ResponseTooLongError();
      parts.push(part as Buffer);
    }
    const requestId = response.headers["x-request-id"];
    return { status: response.statusCode, requestId: requestId?.toString(), text: Buffer.concat(parts).toString() };
  };
}

/**
 * Returns whether a call has failed because of its time limit. Returns false if the call waited for other calls for more than half of the
 * time.
 */
function isTimeout({ aborted, reason }: AbortSignal, startedMs: number): boolean {
  const isTimeLimit = aborted && reason instanceof DOMException && reason.name === "TimeoutError";
  return isTimeLimit && performance.now() - startedMs >= deadlineMs / 2;
}

/** Loads undici at the first use, because a daemon without a primary does not need it. */
async function createAgent(connections: number | null = null): Promise<Agent> {
  const { default: undici } = await import("undici");
  return new undici.Agent({ connections, connect: { timeout: deadlineMs } });
}

/** Yields the event that `first` resolves with, then the events of `others`. */
async function* startingWith<Event>(
  first: Promise<IteratorResult<Event, void>>,
  others: AsyncGenerator<Event, void>,
): AsyncGenerator<Event> {
  const { done, value } = await first;
  if (done) return;
  yield value;
  yield* others;
}

class ResponseTooLongError extends Error {}
class SlowRequestError extends Error {}

/** A daemon with an address that this daemon is allowed to call. */
interface ReachableInstance extends Pick<RegisteredInstance, "id" | "run"> {
  readonly url: string;
}

/** Returns the reason for an error of a stream as a sentence. */
export function problemOf(error: unknown): string {
  return toResponse(error).problem;
}

function toResponse(error: unknown, signal?: AbortSignal): { state: "starting" | "unreachable"; problem: string } {
  if (error instanceof SlowRequestError) return slow();
  if (signal?.aborted) return silent();
  if (error instanceof ApiError && error.code === "NOT_READY")
    return { state: "starting", problem: error.message.slice(0, longestProblem) };
  if (error instanceof ApiError && error.code === "AUTH_REQUIRED")
    return unreachable("It rejects this key. All daemons need the same root key (RUNTIME_ROOT_KEY_FILE).");
  if (error instanceof ApiError) return unreachable(`It rejects the request (${error.code}).`);
  if (error instanceof UnexpectedAnswerError) return unreachable(`It sends an unexpected response (status ${error.status}).`);
  if (error instanceof ResponseTooLongError) return unreachable(`Its response is longer than ${longestResponseBytes / 1024 / 1024} MiB.`);
  const { code } = error as { readonly code?: unknown };
  return unreachable(`It is not reachable${typeof code === "string" ? ` (${code})` : ""}.`);
}

function silent(): { state: "unreachable"; problem: string } {
  return unreachable(`It did not respond within ${deadlineMs / 1000} s.`);
}

/** Returns the problem of a daemon that has proved its identity, but has not completed the operation in time. */
function slow(): { state: "unreachable"; problem: string } {
  return unreachable(`Its response takes longer than ${deadlineMs / 1000} s.`);
}

function unreachable(problem: string): { state: "unreachable"; problem: string } {
  return { state: "unreachable", problem };
}
