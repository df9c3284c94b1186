import type { AppInfo } from "../../plugin/index.js";
import type { PluginSet } from "./plugin-set.js";

/** How long a plugin may take to start or to end; an instance that does not start in time is left out. */
export const lifeTimeLimitMs = 30_000;
/** How long any other hook may take. */
export const hookTimeLimitMs = 10_000;

/** How long a failure is shown after it happened. */
const shownForMs = 10 * 60_000;
const longestMessage = 300;

/**
 * Waits for what a plugin returned, which may never settle: rejects after `limitMs`. It goes on after that; what it comes to too late is
 * given to `onLate`, failures aside.
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
      reject(new Error(`${what} did not end within ${limitMs / 1000} s`));
    }, limitMs);
    settling.finally(() => clearTimeout(timer)).then(resolve, reject);
  });
}

function ignore(): void {}

/** Whether a value is a `Response` that can be sent, also one of another implementation than Node's. `Response.error()` is none. */
export function isResponse(value: unknown): value is Response {
  if (Object.prototype.toString.call(value) !== "[object Response]") return false;
  const { status } = value as Response;
  return status >= 200 && status <= 599;
}

/** Whether a value is a `Request`, of whatever implementation. */
export function isRequest(value: unknown): value is Request {
  return Object.prototype.toString.call(value) === "[object Request]";
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Whether the body can still be sent: nobody has read it, nobody holds it. */
export function isSendable({ bodyUsed, body }: Response): boolean {
  return !bodyUsed && body?.locked !== true;
}

/** Lets go of an answer that nobody will get. */
export function dropResponse(value: unknown): void {
  if (isResponse(value) && isSendable(value)) void value.body?.cancel().catch(() => undefined);
}

/** Shows an answer to every `onResponse` hook, each of which may give another one; a hook that fails changes nothing. */
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
      if (!isResponse(next)) throw new TypeError("it gave something that is neither a Response nor nothing");
      current = next;
    } catch (error) {
      complain("onResponse", error);
    }
  }
  return current;
}

/** Counts the failed hooks of one plugin since it was loaded, and keeps the last failure. */
export class HookFailures {
  #count = 0;
  #last: { readonly hook: string; readonly message: string; readonly atMs: number } | undefined;

  note(hook: string, error: unknown): void {
    this.#count += 1;
    const message = error instanceof Error ? error.message : "it threw a value that is no error";
    this.#last = { hook, message: message.slice(0, longestMessage), atMs: Date.now() };
  }

  /** Such as `onRequest failed; 3 failures since it was loaded: no license`; undefined when none happened lately. */
  get summary(): string | undefined {
    if (this.#last === undefined || Date.now() - this.#last.atMs > shownForMs) return undefined;
    const { hook, message } = this.#last;
    return `${hook} failed; ${this.#count} ${this.#count === 1 ? "failure" : "failures"} since it was loaded: ${message}`;
  }
}
