import { PairedWebSocket } from "./web-socket.js";
import { installWebSocketEvents } from "./web-socket-events.js";

const readyStates = { CONNECTING: 0, OPEN: 1, CLOSING: 2, CLOSED: 3 };

/** Makes `WebSocketPair` global (`const { 0: client, 1: server } = new WebSocketPair()`) and its ends instances of the global `WebSocket`, which stays the platform's client. */
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
