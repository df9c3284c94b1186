import { FrameKind, pieceCostBytes, socketWindowBytes } from "../protocol/frames.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { CloseCode, isSendableCode, writeClose, MessageFragmenter, type SocketClose } from "../protocol/web-socket-frames.js";
import type { OpenedSocket } from "./client-upgrade.js";
import { pingIntervalMs, slowestMessageMs } from "./socket-limits.js";

/** The isolate that a socket belongs to. */
export interface SocketHost {
  readonly writer: FrameWriter;
  /** Whether its channel takes more at the moment. */
  hasRoom(): boolean;
  /** A message went to it. */
  onMessage(): void;
}

/** One open web socket: the client's messages go to the isolate in pieces, the isolate's pieces to the client as fragments. */
export class WorkerSocket {
  readonly #number: number;
  readonly #webSocket: OpenedSocket["webSocket"];
  readonly #host: SocketHost;
  readonly #pieces: MessageFragmenter;
  /** Bytes that the isolate may still send, and those taken whose credit was not given back yet. */
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

  /** Takes a piece of a message of the isolate; throws when it breaks the rules of the channel. */
  send(bytes: Buffer, { isBinary, isLast }: { isBinary: boolean; isLast: boolean }): void {
    const cost = bytes.length + pieceCostBytes;
    this.#window -= cost;
    if (this.#window < 0) throw new Error("it sent more on a web socket than it was allowed to");
    this.#webSocket.send(bytes, { binary: isBinary, fin: isLast }, () => this.#giveCredit(cost));
  }

  /** Throws when it is more than was used. */
  addCredit(bytes: number): void {
    this.#pieces.addCredit(bytes);
    if (this.#pieces.isEmpty) this.#webSocket.resume();
  }

  /** There is room in the channel again. */
  onRoom(): void {
    if (this.#pieces.isEmpty) return;
    this.#pieces.send();
    if (this.#pieces.isEmpty) this.#webSocket.resume();
  }

  /** The app closed it, or answered the client's close. */
  closeByIsolate({ code, reason }: SocketClose): void {
    if (code === CloseCode.NoStatus) this.#close(undefined, "");
    else if (isSendableCode(code)) this.#close(code, reason);
    else this.#close(CloseCode.InternalError, "");
  }

  /** Closes it for a reason of the daemon's. */
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
    // The client's answer has to be read.
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

/** Pings a client, and cuts its connection when it gives no sign of life; returns what ends the watch. */
function watchLife({ socket, webSocket }: OpenedSocket): () => void {
  let spokenMs = performance.now();
  let progress = -1;
  const onSpoken = (): void => void (spokenMs = performance.now());
  for (const event of ["message", "pong", "ping"] as const) webSocket.on(event, onSpoken);
  const timer = setInterval(() => {
    // While nobody reads from it, it cannot be heard.
    if (webSocket.isPaused) return onSpoken();
    const moved = socket.bytesRead + socket.bytesWritten - socket.writableLength;
    if (moved === progress || performance.now() - spokenMs > slowestMessageMs) return webSocket.terminate();
    webSocket.ping();
    // The ping itself is no sign of the client's life.
    progress = socket.bytesRead + socket.bytesWritten - socket.writableLength;
  }, pingIntervalMs);
  timer.unref();
  return () => clearInterval(timer);
}
