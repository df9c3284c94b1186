import type { FrameWriter } from "../protocol/frame-writer.js";
import { FrameKind } from "../protocol/frames.js";
import { WebSocketChannel } from "./web-socket-channel.js";
import { PairedWebSocket } from "./web-socket.js";

/** The web sockets of an isolate's clients, by the number of each in the frames. */
export class WebSockets {
  readonly #writer: FrameWriter;
  readonly #channels = new Map<number, WebSocketChannel>();
  #lastNumber = 0;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  /** Gives the client one end of a pair, as the last word about its request. False when that end is in use already. */
  open(exchange: number, end: PairedWebSocket, head: string): boolean {
    const number = this.#freeNumber();
    const writer = this.#writer;
    const toChannel = (server: PairedWebSocket): WebSocketChannel => {
      const channel = new WebSocketChannel({ number, writer, server, onFree: () => this.#channels.delete(number) });
      this.#channels.set(number, channel);
      const payload = Buffer.allocUnsafe(4 + head.length);
      payload.writeUInt32LE(number, 0);
      payload.write(head, 4, "latin1");
      writer.bytes(FrameKind.SocketOpen, exchange, payload);
      return channel;
    };
    return PairedWebSocket.handOver(end, toChannel, protocolOf(head));
  }

  /** False when the frame is not about a web socket. */
  onFrame(kind: number, number: number, payload: Buffer): boolean {
    if (kind < FrameKind.SocketText || kind > FrameKind.SocketClose) return false;
    this.#channels.get(number)?.onFrame(kind, payload);
    return true;
  }

  #freeNumber(): number {
    do this.#lastNumber = (this.#lastNumber % 0xffff_ffff) + 1;
    while (this.#channels.has(this.#lastNumber));
    return this.#lastNumber;
  }
}

function protocolOf(head: string): string {
  const lines = head.split("\n");
  const index = lines.findIndex((line, at) => at % 2 === 0 && line === "sec-websocket-protocol");
  return index === -1 ? "" : (lines[index + 1] ?? "");
}
