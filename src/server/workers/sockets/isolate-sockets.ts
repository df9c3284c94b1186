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

/** Of a socket whose client is gone: the isolate was told, and its last word about it has not come yet. */
const leaving = Symbol("leaving");

const checkIntervalMs = 1000;

interface IsolateSocketsOptions {
  readonly channel: Pick<IsolateChannel, "writer" | "isFull" | "heardMs">;
  readonly floodGuard: FloodLimiter;
  readonly blocking: Omit<Watched, "heardMs">;
  /** One fewer is open. */
  readonly onGone: () => void;
}

/** The web sockets of one isolate, by the number that the isolate gave to each. */
export class IsolateSockets {
  readonly #host: SocketHost;
  readonly #writer: FrameWriter;
  readonly #floodGuard: FloodLimiter;
  readonly #onGone: () => void;
  readonly #sockets = new Map<number, WorkerSocket | typeof leaving>();
  #openCount = 0;
  #graceTimer: NodeJS.Timeout | undefined;

  constructor({ channel, floodGuard, blocking, onGone }: IsolateSocketsOptions) {
    const watch = new MessageWatch({ heardMs: () => channel.heardMs, ...blocking });
    this.#host = { writer: channel.writer, hasRoom: () => !channel.isFull, onMessage: () => watch.onMessage() };
    this.#writer = channel.writer;
    this.#floodGuard = floodGuard;
    this.#onGone = onGone;
  }

  /** Sockets with a client at their other end. */
  get openCount(): number {
    return this.#openCount;
  }

  get isFull(): boolean {
    return this.#sockets.size >= maximumSocketsPerIsolate;
  }

  /** Answers the client's handshake. Throws when the isolate uses a number that is taken. */
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

  /** The isolate opened one that no client can have. Throws when its number is taken. */
  refuse(number: number): void {
    this.#take(number);
    this.#tellClosed(number, CloseCode.Abnormal);
  }

  /** Throws when the isolate breaks the rules of the channel. */
  onFrame(kind: number, number: number, payload: Buffer): void {
    const socket = this.#sockets.get(number);
    if (socket === undefined) throw new Error("it spoke of a web socket that does not exist");
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

  /** There is room in the channel again. */
  onRoom(): void {
    for (const socket of this.#open()) socket.onRoom();
  }

  /** The code goes: sockets may finish what they are at, then they are closed, so that clients come back to what replaced it. */
  leaveAfterGrace(): void {
    if (!this.#graceTimer) this.#watchGrace();
  }

  /** The isolate is gone. */
  failAll(): void {
    clearTimeout(this.#graceTimer);
    for (const socket of this.#open()) socket.leave(CloseCode.InternalError, "The worker's process ended.");
    this.#sockets.clear();
  }

  #watchGrace(): void {
    clearTimeout(this.#graceTimer);
    this.#graceTimer = setTimeout(() => {
      for (const socket of this.#open()) socket.leave(CloseCode.ServiceRestart, "The worker is restarted.");
    }, socketGraceMs);
  }

  #open(): WorkerSocket[] {
    return [...this.#sockets.values()].filter((socket) => socket !== leaving);
  }

  #take(number: number): void {
    if (this.#sockets.has(number)) throw new Error("it opened a web socket under a number that is taken");
    this.#sockets.set(number, leaving);
  }

  #tellClosed(number: number, code: number): void {
    this.#writer.bytes(FrameKind.SocketClose, number, writeClose({ code, reason: "" }));
  }
}

/** What the watch needs of the isolate. */
interface Watched {
  /** When something last came from it, on the clock of `performance.now()`. */
  heardMs(): number;
  /** Has it asked whether its event loop turns. */
  ask(deadlineMs: number): void;
  /** Kills it when it is past the deadline; true while its answer is owed. */
  sweep(nowMs: number): boolean;
}

/** Finds isolates whose app blocks on a message: no call is open then whose timeout would. */
export class MessageWatch {
  readonly #isolate: Watched;
  #end: (() => void) | undefined;
  #askedMs: number | undefined;
  #messageMs = 0;

  constructor(isolate: Watched) {
    this.#isolate = isolate;
  }

  /** A message went to it. */
  onMessage(): void {
    if (this.#end) return;
    this.#messageMs = performance.now();
    this.#askedMs = undefined;
    this.#end = setStallTolerantInterval(checkIntervalMs, this.#check);
  }

  readonly #check = (nowMs: number): void => {
    if (this.#askedMs === undefined && this.#isolate.heardMs() < this.#messageMs) {
      this.#askedMs = nowMs;
      this.#isolate.ask(this.#messageMs + messageTimeoutMs);
      return;
    }
    if (this.#askedMs !== undefined && this.#isolate.sweep(nowMs)) return;
    this.#end?.();
    this.#end = undefined;
  };
}
