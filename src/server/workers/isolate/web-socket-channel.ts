import type { FrameWriter } from "../protocol/frame-writer.js";
import { FrameKind, pieceCostBytes, socketWindowBytes } from "../protocol/frames.js";
import { CloseCode, readClose, type SocketClose, writeClose } from "../protocol/socket-close.js";
import { MessageFragmenter } from "../protocol/message-fragmenter.js";
import { PairedWebSocket } from "./web-socket.js";
import type { Outlet } from "./send-queue.js";

/** What an app may have sent that its client did not take yet; beyond it the socket is closed with 1013. */
const maximumBufferedBytes = 8 * 1024 * 1024;

/** A client's socket inside the isolate: what the app's end sends leaves as frames, what comes as frames arrives there. */
export class WebSocketChannel implements Outlet {
  readonly #number: number;
  readonly #writer: FrameWriter;
  readonly #server: PairedWebSocket;
  readonly #onFree: (number: number) => void;
  readonly #pieces: MessageFragmenter;
  #parts: Buffer[] = [];
  /** Credit to give back: of pieces that the app has, or that a message still lacks others of. */
  #owedCredit = 0;
  #undelivered = 0;
  /** Waits for the messages before it. */
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
    this.close(CloseCode.TryAgainLater, "The client is too slow.");
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
        // Messages that the app did not take yet hold up the next ones.
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
