import { CloseCode, isSendableCode } from "../../protocol/web-socket-frames.js";
import type { PairedWebSocket } from "../web-socket.js";
import type { MemorySocket } from "./memory-socket.js";
import { FrameDecoder, Opcode, encodeClose, encodeMasked, readCloseFrame } from "./web-socket-bytes.js";

/**
 * Maximum number of bytes that the worker has written and the daemon has not sent. Above this number, the worker's socket accepts no
 * further bytes.
 */
const unsentBytes = 256 * 1024;
/**
 * Maximum number of bytes of the client that the worker has not read. Above this number, the isolate closes the connection with code 1013.
 */
const unreadBytes = 8 * 1024 * 1024;
const drainIntervalMs = 20;

/**
 * Connects the upgraded socket of a worker's `http.Server` with the client's WebSocket. The upgraded socket transfers WebSocket frames (RFC
 * 6455).
 */
export class WebSocketBridge {
  readonly #socket: MemorySocket;
  readonly #client: PairedWebSocket;
  readonly #frames = new FrameDecoder();
  #hasSentClose = false;

  constructor(socket: MemorySocket, client: PairedWebSocket) {
    this.#socket = socket;
    this.#client = client;
    client.accept();
    client.addEventListener("message", (event) => this.#onMessage((event as Event & { data: string | ArrayBuffer }).data));
    client.addEventListener("close", (event) => this.#onClientClose(event as Event & { code: number; reason: string }));
  }

  /** Handles the bytes that the worker has written to the upgraded socket. */
  onOutput(chunks: readonly Buffer[], done: () => void): void {
    for (const chunk of chunks) this.#frames.push(chunk);
    try {
      for (let frame = this.#frames.next(); frame; frame = this.#frames.next()) this.#onFrame(frame.opcode, frame.payload);
    } catch {
      this.#client.close(CloseCode.InternalError);
      this.#socket.destroy();
    }
    this.#whenSent(done);
  }

  /** Closes the client's WebSocket. Call it when the worker has ended or closed its socket. */
  onClose(): void {
    this.#socket.deliverEnd();
    if (this.#client.readyState <= 1) this.#client.close(CloseCode.InternalError);
  }

  #onFrame(opcode: number, payload: Buffer): void {
    switch (opcode) {
      case Opcode.Text:
        return this.#client.send(payload.toString("utf8"));
      case Opcode.Binary:
        return this.#client.send(payload);
      case Opcode.Ping:
        return this.#deliver(encodeMasked(Opcode.Pong, payload));
      case Opcode.Close: {
        const { code, reason } = readCloseFrame(payload);
        if (code !== undefined && isSendableCode(code)) this.#client.close(code, reason);
        else this.#client.close();
      }
    }
  }

  #onMessage(data: string | ArrayBuffer): void {
    const isText = typeof data === "string";
    this.#deliver(isText ? encodeMasked(Opcode.Text, Buffer.from(data)) : encodeMasked(Opcode.Binary, Buffer.from(data)));
    if (this.#socket.readableLength <= unreadBytes) return;
    this.#client.close(CloseCode.TryAgainLater, "The worker reads too slowly.");
    this.#socket.destroy();
  }

  #onClientClose({ code, reason }: { code: number; reason: string }): void {
    // Destroys the socket without a close frame. The worker's WebSocket library then reports code 1006, as after a lost connection.
    if (code === CloseCode.Abnormal) return void this.#socket.destroy();
    if (!this.#hasSentClose) this.#deliver(encodeClose(code, reason));
    this.#hasSentClose = true;
  }

  #deliver(bytes: Buffer): void {
    if (!this.#socket.destroyed) this.#socket.deliver(bytes);
  }

  #whenSent(done: () => void): void {
    if (this.#client.bufferedAmount <= unsentBytes || this.#socket.destroyed) return done();
    setTimeout(() => this.#whenSent(done), drainIntervalMs);
  }
}
