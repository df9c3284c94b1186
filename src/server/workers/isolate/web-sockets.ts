import type { FrameWriter } from "../protocol/frame-writer.js";
import { FrameKind, pieceCostBytes, socketWindowBytes } from "../protocol/frames.js";
import { PairedWebSocket } from "./web-socket.js";
import { CloseCode, readClose, writeClose, MessageFragmenter, type SocketClose } from "../protocol/web-socket-frames.js";
import type { MessageReceiver } from "./send-queue.js";

/**
 * Maximum number of bytes that the worker has sent and the client has not received. Above this number, the isolate closes the WebSocket
 * with code 1013.
 */
const maximumBufferedBytes = 8 * 1024 * 1024;

/** The WebSockets of clients in an isolate. Frames identify each by its socket number. */
export class WebSockets {
  readonly #writer: FrameWriter;
  readonly #channels = new Map<number, WebSocketChannel>();
  #lastNumber = 0;

  constructor(writer: FrameWriter) {
    this.#writer = writer;
  }

  /** Opens a WebSocket. Makes `end` the client's connection and completes the request. Returns false if `end` is in use. */
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

  /** Handles a frame of a WebSocket from the daemon. Returns false for another kind of frame. */
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

/**
 * A client's WebSocket inside the isolate. Sends the messages of the worker's end as frames, and delivers received messages to the worker's
 * end.
 */
class WebSocketChannel implements MessageReceiver {
  readonly #number: number;
  readonly #writer: FrameWriter;
  readonly #server: PairedWebSocket;
  readonly #onFree: (number: number) => void;
  readonly #pieces: MessageFragmenter;
  #parts: Buffer[] = [];
  /** Credit that the isolate has not returned yet, for delivered messages and for fragments of an incomplete message. */
  #owedCredit = 0;
  #undelivered = 0;
  /** A close that waits until all earlier messages are sent. */
  #close: SocketClose | undefined;
  #hasClosed = false;

  constructor(options: { number: number; writer: FrameWriter; server: PairedWebSocket; onFree: (number: number) => void }) {
    this.#number = options.number;
    this.#writer = options.writer;
    this.#server = options.server;
    this.#onFree = options.onFree;
    this.#pieces = new MessageFragmenter(options);
  }

  get bufferedAmount(): number {
    return this.#pieces.waitingBytes;
  }

  message(data: string | Uint8Array): void {
    if (this.#close) return;
    const bytes = typeof data === "string" ? Buffer.from(data) : data;
    if (this.#pieces.waitingBytes + bytes.byteLength <= maximumBufferedBytes) {
      this.#pieces.add(bytes, typeof data === "string");
      return;
    }
    this.#pieces.clear();
    this.close(CloseCode.TryAgainLater, "The client reads too slowly.");
  }

  close(code: number, reason: string): void {
    this.#close ??= { code, reason };
    this.#closeWhenSent();
  }

  onFrame(kind: number, payload: Buffer): void {
    switch (kind) {
      case FrameKind.SocketText:
      case FrameKind.SocketBinary:
        return this.#onLastPiece(payload, kind === FrameKind.SocketText);
      case FrameKind.SocketTextPart:
      case FrameKind.SocketBinaryPart:
        this.#parts.push(payload);
        this.#owedCredit += payload.length + pieceCostBytes;
        // Sends credit for a fragment if the worker has received all complete messages. Without this credit, the next fragments of the same
        // message would never arrive.
        if (this.#undelivered === 0) this.#giveCredit();
        return;
      case FrameKind.SocketCredit:
        this.#pieces.addCredit(payload.readUInt32LE(0));
        return this.#closeWhenSent();
      case FrameKind.SocketClose:
        return this.#onClose(readClose(payload));
    }
  }

  #onLastPiece(payload: Buffer, isText: boolean): void {
    const bytes = this.#parts.length === 0 ? payload : Buffer.concat([...this.#parts, payload]);
    this.#parts = [];
    this.#undelivered += 1;
    PairedWebSocket.arrive(this.#server, {
      data: isText ? bytes.toString("utf8") : bytes,
      onDelivered: () => {
        this.#undelivered -= 1;
        this.#owedCredit += payload.length + pieceCostBytes;
        this.#giveCredit();
      },
    });
  }

  #onClose(close: SocketClose): void {
    this.#pieces.clear();
    this.#close ??= close;
    this.#closeWhenSent();
    PairedWebSocket.arrive(this.#server, { close });
    this.#onFree(this.#number);
  }

  #closeWhenSent(): void {
    if (!this.#close || this.#hasClosed || !this.#pieces.isEmpty) return;
    this.#hasClosed = true;
    this.#writer.bytes(FrameKind.SocketClose, this.#number, writeClose(this.#close));
  }

  #giveCredit(): void {
    if (this.#owedCredit < socketWindowBytes / 4 || this.#hasClosed) return;
    this.#writer.number(FrameKind.SocketCredit, this.#number, this.#owedCredit);
    this.#owedCredit = 0;
  }
}
