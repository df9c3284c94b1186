import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";

/**
 * Time limit for the import of a plugin, its factory function, `onInit` and `onShutdown`. If one of the first three exceeds the limit, the
 * plugin fails to load.
 */
export const lifeTimeLimitMs = 30_000;
/**
 * Time limit for one call of any other plugin hook, such as `onRequest`. Without the limit, a hook that never ends would keep requests
 * open.
 */
export const hookTimeLimitMs = 10_000;

/** Time in ms for which the status of a plugin contains its last failed hook. */
const shownForMs = 10 * 60_000;
const longestMessage = 300;

/**
 * Waits for the promise of a plugin and rejects after `limitMs`. The work of the plugin continues. If the promise resolves later, calls
 * `onLate` with the value. Ignores a later error.
 */
export function withinTimeLimit<Value>(
  work: Value | PromiseLike<Value>,
  limitMs: number,
  what: string,
  onLate: (value: Value) => void = ignore,
): Promise<Value> {
  const settling = Promise.resolve(work);
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      settling.then(onLate, ignore);
      reject(new Error(`${what} did not finish within ${limitMs / 1000} s`));
    }, limitMs);
    settling.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function ignore(): void {}

/**
 * Returns whether a value is a `Response` of any implementation with a status that HTTP allows. Returns false for `Response.error()`, whose
 * status is 0.
 */
export function isResponse(value: unknown): value is Response {
  if (Object.prototype.toString.call(value) !== "[object Response]") return false;
  const { status } = value as Response;
  return status >= 200 && status <= 599;
}

/** Returns whether a value is a `Request` of any implementation. */
export function isRequest(value: unknown): value is Request {
  return Object.prototype.toString.call(value) === "[object Request]";
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Returns whether the daemon can still send the body of a response. The body must be unread and not locked. */
export function isSendable({ bodyUsed, body }: Response): boolean {
  return !bodyUsed && body?.locked !== true;
}

/** Cancels the body of a response that is not sent to the client. */
export function dropResponse(value: unknown): void {
  if (isResponse(value) && isSendable(value)) void value.body?.cancel().catch(() => undefined);
}

/**
 * Passes a response to the `onResponse` hook of each plugin. A hook can replace the response. If a hook fails, the response stays the same.
 */
export async function showToHooks(
  set: PluginSet,
  answer: Response,
  about: { app: AppInfo | undefined; request: Request },
): Promise<Response> {
  let current = answer;
  for (const { hooks, complain } of set.withResponseHook) {
    try {
      const given: unknown = hooks.onResponse?.(current, about.app, about.request);
      const next = isThenable(given) ? await withinTimeLimit<unknown>(given, hookTimeLimitMs, "onResponse", dropResponse) : given;
      if (next === undefined || next === current) continue;
      if (!isResponse(next)) throw new TypeError("the hook must return a Response or undefined");
      current = next;
    } catch (error) {
      complain("onResponse", error);
    }
  }
  return current;
}

/** The failure of a hook. `atMs` is Unix time in milliseconds. */
export interface HookFailure {
  readonly hook: string;
  readonly message: string;
  readonly position: string | undefined;
  readonly atMs: number;
}

/** Counts the failed hooks of one plugin since it was loaded, and stores the last failure. */
export class HookFailures {
  #count = 0;
  #last: HookFailure | undefined;

  /** Records a failure. `position` is the position of the error in the code of the plugin, such as `plugin.js:3:14`. */
  note(hook: string, error: unknown, position?: string): void {
    this.#count += 1;
    const message = error instanceof Error ? error.message : "the hook threw a value that is not an Error";
    this.#last = { hook, message: message.slice(0, longestMessage), position, atMs: Date.now() };
  }

  /** The last failed hook, if it failed in the last 10 minutes. */
  get last(): HookFailure | undefined {
    return this.#last !== undefined && Date.now() - this.#last.atMs <= shownForMs ? this.#last : undefined;
  }

  /**
   * Text about the last failure, such as `onRequest failed; 3 failures since it was loaded: no license`. Undefined without a failure in the
   * last 10 minutes.
   */
  get summary(): string | undefined {
    const { last } = this;
    if (last === undefined) return undefined;
    const { hook, message } = last;
    return `${hook} failed; ${this.#count} ${this.#count === 1 ? "failure" : "failures"} since it was loaded: ${message}`;
  }
}
