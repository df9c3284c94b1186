import { FrameKind, pieceCostBytes, socketWindowBytes } from "../protocol/frames.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { CloseCode, isSendableCode, writeClose, MessageFragmenter, type SocketClose } from "../protocol/web-socket-frames.js";
import type { OpenedSocket } from "./client-upgrade.js";
import { pingIntervalMs, slowestMessageMs } from "./socket-limits.js";

/** The functions of an isolate that a WebSocket uses. */
export interface SocketHost {
  readonly writer: FrameWriter;
  /** Returns whether the channel to the isolate accepts more data now. */
  hasRoom(): boolean;
  /** Called when a message is sent to the isolate. */
  onMessage(): void;
}

/** One open WebSocket: forwards the client's messages to the isolate, and the isolate's fragments to the client. */
export class WorkerSocket {
  readonly #number: number;
  readonly #webSocket: OpenedSocket["webSocket"];
  readonly #host: SocketHost;
  readonly #pieces: MessageFragmenter;
  /** Number of bytes that the isolate can still send. `#owedCredit` is the number of sent bytes that have not become new credit yet. */
  #window = socketWindowBytes;
  #owedCredit = 0;
  #hasToldIsolate = false;
  #failure: number | undefined;

  constructor(options: { number: number; opened: OpenedSocket; host: SocketHost; onGone: () => void }) {
    const { opened, host, number } = options;
    const { webSocket } = opened;
    this.#number = number;
    this.#webSocket = webSocket;
    this.#host = host;
    this.#pieces = new MessageFragmenter({ number, writer: host.writer, hasRoom: () => host.hasRoom() });
    webSocket.on("message", this.#onMessage);
    webSocket.on("error", (error: Error & { code?: string }) => {
      if (error.code === "WS_ERR_UNSUPPORTED_MESSAGE_LENGTH") this.#failure = CloseCode.TooLarge;
    });
    const stopWatching = watchLife(opened);
    webSocket.once("close", (code: number, reason: Buffer) => {
      stopWatching();
      this.#tellIsolate({ code: this.#failure ?? code, reason: reason.toString("utf8") });
      options.onGone();
    });
  }

  /** Forwards a message fragment of the isolate to the client. Throws if the isolate exceeds its credit. */
  send(bytes: Buffer, { isBinary, isLast }: { isBinary: boolean; isLast: boolean }): void {
    const cost = bytes.length + pieceCostBytes;
    this.#window -= cost;
    if (this.#window < 0) throw new Error("the isolate exceeded the credit of a WebSocket");
    this.#webSocket.send(bytes, { binary: isBinary, fin: isLast }, () => this.#giveCredit(cost));
  }

  /** Adds credit that the isolate has returned. Throws if the isolate returns more bytes than it has received. */
  addCredit(bytes: number): void {
    this.#pieces.addCredit(bytes);
    if (this.#pieces.isEmpty) this.#webSocket.resume();
  }

  /** Sends waiting messages when the channel accepts data again. */
  onCapacity(): void {
    if (this.#pieces.isEmpty) return;
    this.#pieces.send();
    if (this.#pieces.isEmpty) this.#webSocket.resume();
  }

  /** Handles a close frame of the isolate. The worker closes the WebSocket, or responds to a close of the client. */
  closeByIsolate({ code, reason }: SocketClose): void {
    if (code === CloseCode.NoStatus) this.#close(undefined, "");
    else if (isSendableCode(code)) this.#close(code, reason);
    else this.#close(CloseCode.InternalError, "");
  }

  /** Closes the WebSocket because the daemon or the isolate stops. Sends the close code to the client and to the isolate. */
  leave(code: number, reason: string): void {
    this.#close(code, reason);
    this.#tellIsolate({ code, reason });
  }

  readonly #onMessage = (data: unknown, isBinary: boolean): void => {
    this.#pieces.add(data as Buffer, !isBinary);
    this.#host.onMessage();
    if (!this.#pieces.isEmpty) this.#webSocket.pause();
  };

  #close(code: number | undefined, reason: string): void {
    this.#webSocket.off("message", this.#onMessage);
    this.#pieces.clear();
    this.#webSocket.close(code, reason);
    // Resumes the socket, so that the daemon reads the close frame of the client.
    this.#webSocket.resume();
  }

  #tellIsolate(close: SocketClose): void {
    if (this.#hasToldIsolate) return;
    this.#hasToldIsolate = true;
    this.#pieces.clear();
    this.#host.writer.bytes(FrameKind.SocketClose, this.#number, writeClose(close));
  }

  #giveCredit(bytes: number): void {
    this.#owedCredit += bytes;
    if (this.#owedCredit < socketWindowBytes / 4 || this.#hasToldIsolate) return;
    this.#host.writer.number(FrameKind.SocketCredit, this.#number, this.#owedCredit);
    this.#window += this.#owedCredit;
    this.#owedCredit = 0;
  }
}

/** Sends pings to the client and ends the connection if the client does not respond. Returns a function that stops the pings. */
function watchLife({ socket, webSocket }: OpenedSocket): () => void {
  let spokenMs = performance.now();
  let progress = -1;
  const onSpoken = (): void => void (spokenMs = performance.now());
  for (const event of ["message", "pong", "ping"] as const) webSocket.on(event, onSpoken);
  const timer = setInterval(() => {
    // Counts a client with a paused socket as responsive, because the daemon reads none of its bytes.
    if (webSocket.isPaused) return onSpoken();
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    if (moved === progress || performance.now() - spokenMs > slowestMessageMs) return webSocket.terminate();
    webSocket.ping();
    // Reads the counters after the ping, so that the bytes of the ping do not count as transferred.
    progress = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  }, pingIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
