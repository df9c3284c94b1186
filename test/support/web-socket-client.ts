import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { WebSocket, type ClientOptions } from "ws";

export interface ClosedWith {
  readonly code: number;
  readonly reason: string;
}

/** A client that stores received messages, so that no test misses one. */
export class WebSocketClient {
  readonly webSocket: WebSocket;
  readonly #messages: (string | Buffer)[] = [];
  readonly #closed: Promise<ClosedWith>;
  #wake: (() => void) | undefined;

  constructor(url: string, protocols: string[] = [], options: ClientOptions = {}) {
    this.webSocket = new WebSocket(url.replace("http", "ws"), protocols, options);
    this.webSocket.on("message", (data: Buffer, isBinary: boolean) => {
      this.#messages.push(isBinary ? data : data.toString());
      this.#wake?.();
    });
    this.webSocket.on("error", () => undefined);
    this.#closed = new Promise((resolve) =>
      this.webSocket.once("close", (code, reason) => {
        resolve({ code, reason: reason.toString() });
        this.#wake?.();
      }),
    );
  }

  /** Resolves when the handshake is done. */
  static async open(url: string, protocols: string[] = [], options: ClientOptions = {}): Promise<WebSocketClient> {
    const client = new WebSocketClient(url, protocols, options);
    await once(client.webSocket, "open");
    return client;
  }

  /** Resolves with the response to a rejected handshake. */
  static async refusal(
    url: string,
    options: ClientOptions = {},
  ): Promise<{ status: number; headers: IncomingMessage["headers"]; text: string }> {
    const webSocket = new WebSocket(url.replace("http", "ws"), options);
    webSocket.on("error", () => undefined);
    const [, response] = (await once(webSocket, "unexpected-response")) as [unknown, IncomingMessage];
    let text = "";
    for await (const chunk of response.setEncoding("utf8")) text += chunk as string;
    webSocket.terminate();
    return { status: response.statusCode ?? 0, headers: response.headers, text };
  }

  get closed(): Promise<ClosedWith> {
    return this.#closed;
  }

  /** Resolves with the next unread message. Rejects if the socket closes first. */
  async next(): Promise<string | Buffer> {
    while (this.#messages.length === 0) {
      if (this.webSocket.readyState === WebSocket.CLOSED) throw new Error("The socket is closed.");
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
    return this.#messages.shift() as string | Buffer;
  }

  send(data: string | Uint8Array): void {
    this.webSocket.send(data);
  }

  async ask(data: string | Uint8Array): Promise<string | Buffer> {
    this.send(data);
    return this.next();
  }

  close(code?: number, reason?: string): Promise<ClosedWith> {
    this.webSocket.close(code, reason);
    return this.#closed;
  }
}
