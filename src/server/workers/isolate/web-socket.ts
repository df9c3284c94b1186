import { closeReasonBytes } from "../protocol/frames.js";
import { CloseCode, isSendableCode } from "../protocol/web-socket-frames.js";
import { SendQueue, type MessageReceiver } from "./send-queue.js";

const readyStates = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 } as const;
const platform = globalThis as { CloseEvent?: typeof PolyfilledCloseEvent; ErrorEvent?: typeof PolyfilledErrorEvent };

type Listener = ((event: Event) => unknown) | { handleEvent(event: Event): unknown } | null;
type ListenerOptions = Parameters<EventTarget["addEventListener"]>[2];
type BinaryType = "arraybuffer" | "blob";

/** A message or a close that the worker has not received yet. */
interface Arrival {
  readonly data?: string | Uint8Array;
  readonly close?: { readonly code: number; readonly reason: string };
  /** Called when the worker has received the event. */
  readonly onDelivered?: (() => void) | undefined;
}

/**
 * One end of a `WebSocketPair`, which is a `WebSocket` with the method `accept()`. Each end receives the messages of the other end. If a
 * Response contains an end, that end becomes the client's connection.
 */
export class PairedWebSocket extends EventTarget {
  readonly url = "";
  readonly extensions = "";
  #protocol = "";
  #peer: PairedWebSocket | undefined;
  /** Receiver of this end's messages if the other end is the client's connection. */
  #receiver: MessageReceiver | undefined;
  readonly #outbox = new SendQueue(() => this.#receiver ?? (this.#peer as PairedWebSocket).#inlet);
  readonly #arrivals: Arrival[] = [];
  #isAccepted = false;
  #isHandedOver = false;
  #readyState: number = readyStates.OPEN;
  #binaryType: BinaryType = "arraybuffer";
  #attachment: unknown = null;
  readonly #handlers = new Map<string, unknown>();
  #report: (error: unknown) => void = () => undefined;
  /** For each event listener of the worker, the function that is registered in its place. */
  readonly #guarded = new WeakMap<object, (event: Event) => void>();

  /**
   * Creates both ends of a pair. `report` receives errors of event listeners. If these errors were uncaught, the daemon would replace the
   * isolate.
   */
  static pair(report: (error: unknown) => void): readonly [PairedWebSocket, PairedWebSocket] {
    const ends = [new PairedWebSocket(), new PairedWebSocket()] as const;
    ends[0].#report = ends[1].#report = report;
    ends[0].#peer = ends[1];
    ends[1].#peer = ends[0];
    return ends;
  }

  static isEnd(value: unknown): value is PairedWebSocket {
    return typeof value === "object" && value !== null && #peer in value;
  }

  /** Makes `end` the client's connection. The messages of the other end then go to the receiver. Returns false if `end` is in use. */
  static handOver(end: PairedWebSocket, toReceiver: (server: PairedWebSocket) => MessageReceiver, protocol: string): boolean {
    const server = end.#peer as PairedWebSocket;
    if (end.#isAccepted || end.#isHandedOver) return false;
    end.#isHandedOver = true;
    server.#protocol = end.#protocol = protocol;
    const receiver = toReceiver(server);
    server.#receiver = receiver;
    for (const { data, close } of end.#arrivals.splice(0)) {
      if (data !== undefined) receiver.message(data);
      if (close) receiver.close(close.code, close.reason);
    }
    return true;
  }

  /** Delivers a message or a close from the client to `end`. */
  static arrive(end: PairedWebSocket, arrival: Arrival): void {
    end.#arrive(arrival);
  }

  /** Closes the other end of the pair, because the client has disconnected before `end` became its connection. */
  static abandon(end: PairedWebSocket): void {
    if (!end.#isHandedOver && end.#peer) end.#peer.#arrive({ close: { code: CloseCode.Abnormal, reason: "" } });
  }

  get readyState(): number {
    return this.#readyState;
  }

  get protocol(): string {
    return this.#protocol;
  }

  get bufferedAmount(): number {
    return this.#outbox.bufferedAmount + (this.#receiver?.bufferedAmount ?? 0);
  }

  get binaryType(): BinaryType {
    return this.#binaryType;
  }

  set binaryType(type: BinaryType) {
    if (type === "arraybuffer" || type === "blob") this.#binaryType = type;
  }

  /** Starts the delivery of events to the listeners of this end. */
  accept(): void {
    if (this.#isHandedOver) throw new TypeError("This end of the WebSocketPair belongs to a Response. Call accept() on the other end.");
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    for (let index = 0; index < this.#arrivals.length; index += 1) setImmediate(this.#deliver);
  }

  send(data?: string | number | Blob | ArrayBuffer | SharedArrayBuffer | NodeJS.ArrayBufferView): void {
    if (data === undefined) throw new TypeError("send() needs a message.");
    if (!this.#isAccepted) throw new TypeError("accept() must be called before send().");
    if (this.#readyState !== readyStates.OPEN) return;
    if (data instanceof Blob) this.#outbox.blob(data).catch(this.#report);
    else if (data instanceof ArrayBuffer || data instanceof SharedArrayBuffer) this.#outbox.message(new Uint8Array(data).slice());
    else if (ArrayBuffer.isView(data)) this.#outbox.message(new Uint8Array(data.buffer, data.byteOffset, data.byteLength).slice());
    else this.#outbox.message(String(data));
  }

  close(code?: number, reason = ""): void {
    if (this.#readyState >= readyStates.CLOSING) return;
    if (code !== undefined && !isSendableCode(code)) {
      throw new DOMException(
        `${code} is not a valid close code. Use 1000 to 1014, except 1004 to 1006, or 3000 to 4999.`,
        "InvalidAccessError",
      );
    }
    if (Buffer.byteLength(reason) > closeReasonBytes) {
      throw new DOMException(`The reason of a close has at most ${closeReasonBytes} bytes.`, "SyntaxError");
    }
    this.#readyState = readyStates.CLOSING;
    this.#outbox.close(code ?? CloseCode.NoStatus, reason);
  }

  serializeAttachment(value: unknown): void {
    this.#attachment = structuredClone(value);
  }

  deserializeAttachment(): unknown {
    return structuredClone(this.#attachment);
  }

  override addEventListener(type: string, listener: Listener, options?: ListenerOptions): void {
    const guarded = this.#guard(listener);
    if (guarded) super.addEventListener(type, guarded, options);
  }

  override removeEventListener(type: string, listener: Listener, options?: ListenerOptions): void {
    const guarded = this.#guard(listener);
    if (guarded) super.removeEventListener(type, guarded, options);
  }

  static {
    for (const type of ["open", "message", "close", "error"]) {
      Object.defineProperty(this.prototype, `on${type}`, {
        configurable: true,
        enumerable: true,
        get(this: PairedWebSocket) {
          return this.#handlers.get(type) ?? null;
        },
        set(this: PairedWebSocket, handler: unknown) {
          if (!this.#handlers.has(type)) this.addEventListener(type, (event) => this.#callHandler(type, event));
          this.#handlers.set(type, typeof handler === "function" ? handler : null);
        },
      });
    }
  }

  /** Receiver of the other end's messages if no end is the client's connection. */
  readonly #inlet: MessageReceiver = {
    bufferedAmount: 0,
    message: (data) => this.#arrive({ data }),
    close: (code, reason) => this.#arrive({ close: { code, reason } }),
  };

  #arrive(arrival: Arrival): void {
    if (this.#isHandedOver) return;
    this.#arrivals.push(arrival);
    // Delivers each message in its own task. All microtasks of one message then run before the next message.
    if (this.#isAccepted) setImmediate(this.#deliver);
  }

  readonly #deliver = (): void => {
    const arrival = this.#arrivals.shift();
    if (!arrival) return;
    const { data, close, onDelivered } = arrival;
    onDelivered?.();
    if (data !== undefined && this.#readyState === readyStates.OPEN) this.dispatchEvent(messageEvent(this.#wrap(data)));
    if (close && this.#readyState !== readyStates.CLOSED) this.#end(close);
  };

  #wrap(data: string | Uint8Array): unknown {
    if (typeof data === "string") return data;
    // Copies the bytes by a method of Uint8Array, because `slice()` of a Buffer shares the memory.
    const bytes = Uint8Array.prototype.slice.call(data);
    return this.#binaryType === "blob" ? new Blob([bytes]) : bytes.buffer;
  }

  #end({ code, reason }: { code: number; reason: string }): void {
    const isFirst = this.#readyState === readyStates.OPEN;
    this.#readyState = readyStates.CLOSED;
    // Responds to a close of the other end. If the client has closed the connection, the daemon has already responded.
    if (isFirst && !this.#receiver) this.#outbox.close(code, reason);
    const wasClean = code !== CloseCode.Abnormal;
    if (!wasClean) this.dispatchEvent(errorEvent("The connection was lost."));
    this.dispatchEvent(closeEvent({ code, reason, wasClean }));
  }

  #callHandler(type: string, event: Event): unknown {
    const handler = this.#handlers.get(type);
    return typeof handler === "function" ? (handler.call(this, event) as unknown) : undefined;
  }

  #guard(listener: Listener): ((event: Event) => void) | null {
    if ((typeof listener !== "function" && typeof listener !== "object") || listener === null) return null;
    const existing = this.#guarded.get(listener);
    if (existing) return existing;
    const guarded = (event: Event): void => {
      try {
        const result = typeof listener === "function" ? listener.call(this, event) : listener.handleEvent(event);
        if (result instanceof Promise) result.catch(this.#report);
      } catch (error) {
        this.#report(error);
      }
    };
    this.#guarded.set(listener, guarded);
    return guarded;
  }
}

/** Fields of a CloseEvent. This version of Node.js can lack the event classes of WebSockets, which the classes below replace. */
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
const CloseEventClass = platform.CloseEvent ?? PolyfilledCloseEvent;
const ErrorEventClass = platform.ErrorEvent ?? PolyfilledErrorEvent;
Object.defineProperty(PolyfilledCloseEvent, "name", { value: "CloseEvent" });
Object.defineProperty(PolyfilledErrorEvent, "name", { value: "ErrorEvent" });

function messageEvent(data: unknown): Event {
  return new MessageEvent("message", { data });
}

function closeEvent(fields: Required<CloseFields>): Event {
  return new CloseEventClass("close", fields);
}

function errorEvent(message: string): Event {
  return new ErrorEventClass("error", { message, error: new Error(message) });
}

function installWebSocketEvents(): void {
  Object.defineProperty(globalThis, "CloseEvent", { value: CloseEventClass, writable: true, configurable: true });
  Object.defineProperty(globalThis, "ErrorEvent", { value: ErrorEventClass, writable: true, configurable: true });
}

/**
 * Installs the global `WebSocketPair` (`const { 0: client, 1: server } = new WebSocketPair()`). Both ends are instances of the global
 * `WebSocket`. The global `WebSocket` is still the client of Node.js.
 */
export function installWebSocketPair(report: (error: unknown) => void): void {
  class WebSocketPair {
    readonly 0: PairedWebSocket;
    readonly 1: PairedWebSocket;

    constructor() {
      [this[0], this[1]] = PairedWebSocket.pair(report);
    }
  }

  const prototype = PairedWebSocket.prototype;
  const native = (globalThis as { WebSocket?: { readonly prototype: object } }).WebSocket;
  if (native) Object.setPrototypeOf(prototype, native.prototype);
  const global: object = native ?? PairedWebSocket;
  for (const [name, value] of Object.entries(readyStates)) {
    Object.defineProperty(prototype, name, { value, enumerable: true });
    Object.defineProperty(global, `READY_STATE_${name}`, { value, enumerable: true, configurable: true });
    if (!native) Object.defineProperty(global, name, { value, enumerable: true });
  }
  Object.defineProperty(PairedWebSocket, "name", { value: "WebSocket" });
  Object.defineProperty(prototype, "constructor", { value: global, writable: true, configurable: true });
  if (!native) Object.defineProperty(globalThis, "WebSocket", { value: global, writable: true, configurable: true });
  Object.defineProperty(globalThis, "WebSocketPair", { value: WebSocketPair, writable: true, configurable: true });
  installWebSocketEvents();
}
