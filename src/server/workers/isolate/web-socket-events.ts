/** The events of a WebSocket that this version of Node does not know; the platform's own where it does. */
interface CloseFields {
  readonly wasClean?: boolean;
  readonly code?: number;
  readonly reason?: string;
}

class PolyfilledCloseEvent extends Event {
  readonly wasClean: boolean;
  readonly code: number;
  readonly reason: string;

  constructor(type: string, init: CloseFields & ConstructorParameters<typeof Event>[1] = {}) {
    super(type, init);
    this.wasClean = init.wasClean ?? false;
    this.code = init.code ?? 0;
    this.reason = init.reason ?? "";
  }
}

class PolyfilledErrorEvent extends Event {
  readonly message: string;
  readonly error: unknown;

  constructor(type: string, init: { message?: string; error?: unknown } & ConstructorParameters<typeof Event>[1] = {}) {
    super(type, init);
    this.message = init.message ?? "";
    this.error = init.error;
  }
}

const platform = globalThis as { CloseEvent?: typeof PolyfilledCloseEvent; ErrorEvent?: typeof PolyfilledErrorEvent };
const CloseEventClass = platform.CloseEvent ?? PolyfilledCloseEvent;
const ErrorEventClass = platform.ErrorEvent ?? PolyfilledErrorEvent;
Object.defineProperty(PolyfilledCloseEvent, "name", { value: "CloseEvent" });
Object.defineProperty(PolyfilledErrorEvent, "name", { value: "ErrorEvent" });

export function messageEvent(data: unknown): Event {
  return new MessageEvent("message", { data });
}

export function closeEvent(fields: Required<CloseFields>): Event {
  return new CloseEventClass("close", fields);
}

export function errorEvent(message: string): Event {
  return new ErrorEventClass("error", { message, error: new Error(message) });
}

export function installWebSocketEvents(): void {
  Object.defineProperty(globalThis, "CloseEvent", { value: CloseEventClass, writable: true, configurable: true });
  Object.defineProperty(globalThis, "ErrorEvent", { value: ErrorEventClass, writable: true, configurable: true });
}
