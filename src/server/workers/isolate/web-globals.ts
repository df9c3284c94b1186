/** Event types for which the global object has a handler attribute, such as `onerror`. */
const handledTypes = ["error", "unhandledrejection", "rejectionhandled"] as const;

/** Declares `ErrorEvent`, a global of Node.js that is missing in the type declarations. */
declare const ErrorEvent: new (type: string, init: { error: unknown; message: string; cancelable: boolean }) => Event;

interface RejectionInit {
  readonly bubbles?: boolean;
  readonly cancelable?: boolean;
  readonly composed?: boolean;
  readonly promise: Promise<unknown>;
  readonly reason?: unknown;
}

/** The event of a promise that was rejected without a handler. */
class PromiseRejectionEvent extends Event {
  readonly promise: Promise<unknown>;
  readonly reason: unknown;

  constructor(type: string, init: RejectionInit) {
    super(type, init);
    this.promise = init.promise;
    this.reason = init.reason;
  }
}

/** Dispatches the events of the global object. */
export interface GlobalEvents {
  /** Dispatches `error`. Returns false if a listener has prevented the default action. */
  dispatchError(error: unknown): boolean;
  /** Dispatches `unhandledrejection`. Returns false if a listener has prevented the default action. */
  dispatchRejection(promise: Promise<unknown>, reason: unknown): boolean;
}

/**
 * Adds the globals of ECMA-429 (Minimum Common Web API) that Node.js lacks: `self`, `reportError`, event listeners on the global object,
 * and `PromiseRejectionEvent`. `report` writes an error to the worker's log.
 */
export function installWebGlobals(report: (error: unknown) => void): GlobalEvents {
  const target = new EventTarget();
  const events: GlobalEvents = {
    dispatchError: (error) => {
      const message = error instanceof Error ? error.message : String(error);
      return target.dispatchEvent(new ErrorEvent("error", { error, message, cancelable: true }));
    },
    dispatchRejection: (promise, reason) =>
      target.dispatchEvent(new PromiseRejectionEvent("unhandledrejection", { promise, reason, cancelable: true })),
  };
  define("self", globalThis);
  define("PromiseRejectionEvent", PromiseRejectionEvent);
  define("addEventListener", target.addEventListener.bind(target));
  define("removeEventListener", target.removeEventListener.bind(target));
  define("dispatchEvent", target.dispatchEvent.bind(target));
  define("reportError", (error: unknown) => {
    if (events.dispatchError(error)) report(error);
  });
  for (const type of handledTypes) defineHandler(target, type);
  return events;
}

function define(name: string, value: unknown): void {
  Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });
}

/** Defines a handler property of the global object, such as `onerror`. Setting a new function replaces the previous handler. */
function defineHandler(target: EventTarget, type: string): void {
  let handler: unknown = null;
  target.addEventListener(type, (event) => {
    if (typeof handler === "function") (handler as (event: Event) => void).call(globalThis, event);
  });
  Object.defineProperty(globalThis, `on${type}`, {
    get: () => handler,
    set: (value: unknown) => {
      handler = typeof value === "function" ? value : null;
    },
    configurable: true,
    enumerable: false,
  });
}
