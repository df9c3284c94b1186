import { PairedWebSocket } from "./web-socket.js";

const NativeResponse = globalThis.Response;
type BodyInit = ConstructorParameters<typeof Response>[0];

/**
 * Creates a response with status 101 and a WebSocket, because the native constructor rejects this status. Returns undefined for other
 * arguments.
 */
export function toSwitchingResponse(body: BodyInit | undefined, init: ResponseInit | undefined): Response | undefined {
  if (typeof init !== "object" || init === null || init.status !== 101) return undefined;
  const { webSocket } = init as { webSocket?: unknown };
  if (!PairedWebSocket.isEnd(webSocket)) return undefined;
  if (body !== null && body !== undefined) throw new TypeError("A Response with status 101 has no body.");
  const response = new NativeResponse(null, init.headers === undefined ? {} : { headers: init.headers });
  return Object.defineProperties(response, {
    status: { value: 101 },
    statusText: { value: "Switching Protocols" },
    ok: { value: false },
    webSocket: { value: webSocket },
    clone: {
      value: () => {
        throw new TypeError("A Response with a webSocket cannot be cloned.");
      },
    },
  });
}

/** Closes the worker's end of the WebSocket in a response, because the client disconnected before the WebSocket was opened. */
export function abandonWebSocket(response: Response): void {
  const end = webSocketOf(response);
  if (end) PairedWebSocket.abandon(end);
}

/** Returns the end of a WebSocketPair that becomes the client's connection. Returns null if the response has no WebSocket. */
export function webSocketOf(response: Response): PairedWebSocket | null {
  const { webSocket } = response as { webSocket?: unknown };
  return PairedWebSocket.isEnd(webSocket) ? webSocket : null;
}
