import { PairedWebSocket } from "./web-socket.js";

const NativeResponse = globalThis.Response;
type BodyInit = ConstructorParameters<typeof Response>[0];

/** The answer 101, which the native class does not know: a native response that says so of itself. Undefined for every other answer. */
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

/** Tells the app's end that the client is gone, when an answer that nobody waits for was to open a socket. */
export function abandonWebSocket(response: Response): void {
  const end = webSocketOf(response);
  if (end) PairedWebSocket.abandon(end);
}

/** The end of a pair that an answer gives to the client. */
export function webSocketOf(response: Response): PairedWebSocket | null {
  const { webSocket } = response as { webSocket?: unknown };
  return PairedWebSocket.isEnd(webSocket) ? webSocket : null;
}
