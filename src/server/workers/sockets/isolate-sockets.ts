import type { ResponseHead } from "../engine/response-head.js";
import type { FloodLimiter } from "../isolates/flood-limiter.js";
import { FrameKind } from "../protocol/frames.js";
import type { IsolateChannel } from "../isolates/isolate-channel.js";
import type { FrameWriter } from "../protocol/frame-writer.js";
import { CloseCode, readClose, writeClose } from "../protocol/web-socket-frames.js";
import type { ClientUpgrade } from "./client-upgrade.js";
import { maximumSocketsPerIsolate, socketGraceMs, messageTimeoutMs } from "./socket-limits.js";
import { WorkerSocket, type SocketHost } from "./worker-socket.js";
import { setStallTolerantInterval } from "../../platform/stall-tolerant-interval.js";

/** Replaces a WebSocket in the map after its client has disconnected, until the close frame of the isolate arrives. */
const leaving = Symbol("leaving");

const checkIntervalMs = 1000;

interface IsolateSocketsOptions {
  readonly channel: Pick<IsolateChannel, "writer" | "isFull" | "lastReadMs">;
  readonly floodGuard: FloodLimiter;
  readonly blocking: Omit<Watched, "lastReadMs">;
  /** Called after a client's WebSocket has closed. */
  readonly onGone: () => void;
}

/** The WebSockets of one isolate, by socket number. The isolate assigns these numbers. */
export class IsolateSockets {
  readonly #host: SocketHost;
  readonly #writer: FrameWriter;
  readonly #floodGuard: FloodLimiter;
  readonly #onGone: () => void;
  readonly #sockets = new Map<number, WorkerSocket | typeof leaving>();
  #openCount = 0;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor({ channel, floodGuard, blocking, onGone }: IsolateSocketsOptions) {
    const watch = new MessageWatch({ lastReadMs: () => channel.lastReadMs, ...blocking });
    this.#host = { writer: channel.writer, hasRoom: () => !channel.isFull, onMessage: () => watch.onMessage() };
    this.#writer = channel.writer;
    this.#floodGuard = floodGuard;
    this.#onGone = onGone;
  }

  /** Number of WebSockets with a connected client. */
  get openCount(): number {
    return this.#openCount;
  }

  get isFull(): boolean {
    return this.#sockets.size >= maximumSocketsPerIsolate;
  }

  /** Completes the handshake of a client for the WebSocket `number`. Throws if the number is in use. */
  open(number: number, upgrade: ClientUpgrade, answer: { head: ResponseHead; requestId: string }): void {
    this.#take(number);
    const opened = upgrade.accept(answer.head, answer.requestId);
    if (!opened) return this.#tellClosed(number, CloseCode.Abnormal);
    const { openSockets } = upgrade;
    const onGone = (): void => {
      openSockets.delete(socket);
      this.#openCount -= 1;
      if (this.#sockets.get(number) === socket) this.#sockets.set(number, leaving);
      this.#onGone();
    };
    const socket = new WorkerSocket({ number, opened, host: this.#host, onGone });
    this.#openCount += 1;
    this.#sockets.set(number, socket);
    openSockets.add(socket);
    if (this.#graceTimer) this.#watchGrace();
  }

  /**
   * Rejects a WebSocket of the isolate for a request without a connected client or without a valid upgrade. Throws if `number` is in use.
   */
  refuse(number: number): void {
    this.#take(number);
    this.#tellClosed(number, CloseCode.Abnormal);
  }

  /** Handles a frame for a WebSocket from the isolate. Throws if the isolate violates the protocol. */
  onFrame(kind: number, number: number, payload: Buffer): void {
    const socket = this.#sockets.get(number);
    if (socket === undefined) throw new Error("the isolate sent a frame for an unknown WebSocket");
    if (kind === FrameKind.SocketClose) this.#sockets.delete(number);
    if (socket === leaving) return this.#floodGuard.count();
    switch (kind) {
      case FrameKind.SocketText:
      case FrameKind.SocketBinary:
        return socket.send(payload, { isBinary: kind === FrameKind.SocketBinary, isLast: true });
      case FrameKind.SocketTextPart:
      case FrameKind.SocketBinaryPart:
        return socket.send(payload, { isBinary: kind === FrameKind.SocketBinaryPart, isLast: false });
      case FrameKind.SocketCredit:
        return socket.addCredit(payload.readUInt32LE(0));
      case FrameKind.SocketClose:
        return socket.closeByIsolate(readClose(payload));
      default:
        throw new Error(`the isolate sent a frame of kind ${kind} for a WebSocket`);
    }
  }

  /** Sends waiting messages when the channel accepts data again. */
  onCapacity(): void {
    for (const socket of this.#open()) socket.onCapacity();
  }

  /**
   * Closes all WebSockets after `socketGraceMs`, because the daemon stops the isolate or replaces the worker's code. Clients can then
   * connect to the new code.
   */
  leaveAfterGrace(): void {
    if (!this.#graceTimer) this.#watchGrace();
  }

  /** Closes all WebSockets because the isolate's process ended. */
  failAll(): void {
    clearTimeout(this.#graceTimer);
    for (const socket of this.#open()) socket.leave(CloseCode.InternalError, "The worker's process ended.");
    this.#sockets.clear();
  }

  #watchGrace(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => {
      for (const socket of this.#open()) socket.leave(CloseCode.ServiceRestart, "The worker is restarting.");
    }, socketGraceMs);
  }

  #open(): WorkerSocket[] {
    return [...this.#sockets.values()].filter((socket) => socket !== leaving);
  }

  #take(number: number): void {
    if (this.#sockets.has(number)) throw new Error("the isolate opened a WebSocket with a number in use");
    this.#sockets.set(number, leaving);
  }

  #tellClosed(number: number, code: number): void {
    this.#writer.bytes(FrameKind.SocketClose, number, writeClose({ code, reason: "" }));
  }
}

/** The functions of an isolate that `MessageWatch` uses. */
interface Watched {
  /** Time of the last data from the isolate, on the clock of `performance.now()`. */
  lastReadMs(): number;
  /** Sends a ping. The isolate counts as blocked if it has not responded at `deadlineMs`. */
  ask(deadlineMs: number): void;
  /** Kills the isolate if it has not responded in time. Returns true while a ping is pending. */
  sweep(nowMs: number): boolean;
}

/** Finds an isolate that blocks its event loop while it handles a WebSocket message. The time limits of calls do not apply to messages. */
export class MessageWatch {
  readonly #isolate: Watched;
  #end: (() => void) | undefined;
  #askedMs: number | undefined;
  #messageMs = 0;

  constructor(isolate: Watched) {
    this.#isolate = isolate;
  }

  /** Starts the watch when a message is sent to the isolate. */
  onMessage(): void {
    if (this.#end) return;
    this.#messageMs = performance.now();
    this.#askedMs = undefined;
    this.#end = setStallTolerantInterval(checkIntervalMs, this.#check);
  }

  readonly #check = (nowMs: number): void => {
    if (this.#askedMs === undefined && this.#isolate.lastReadMs() < this.#messageMs) {
      this.#askedMs = nowMs;
      this.#isolate.ask(this.#messageMs + messageTimeoutMs);
      return;
    }
    if (this.#askedMs !== undefined && this.#isolate.sweep(nowMs)) return;
    this.#end?.();
    this.#end = undefined;
  };
}
