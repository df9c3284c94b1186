import { performance } from "node:perf_hooks";
import type { ChildProcess } from "node:child_process";
import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import { FloodGuard } from "./flood-guard.js";
import { IsolateCalls } from "./isolate-calls.js";
import { IsolateChannel } from "./isolate-channel.js";
import type { IsolateCommand } from "./isolate-command.js";
import { IsolateEnding } from "./isolate-ending.js";
import type { IsolateEvents } from "./isolate-events.js";
import { PendingStep } from "./pending-step.js";
import { spawnIsolate } from "./spawn-isolate.js";
import type { FrameHandler } from "./isolate/frame-reader.js";
import { FrameKind, type LoadFailure, type LoadOrder } from "./isolate/frames.js";
import { IsolateOutput } from "./logs/isolate-output.js";
import { LoopProbe } from "./loop-probe.js";
import type { IsolateNeeds } from "./isolate-needs.js";
import type { Quarter } from "./isolate-quarters.js";
import type { SlotFolder } from "./slot-folder.js";
import { IsolateSockets } from "./sockets/isolate-sockets.js";
import { MessageWatch } from "./sockets/message-watch.js";
import type { WorkerCall } from "./worker-call.js";

/** One that works on calls and said nothing for so long is asked whether it lives before it gets another. */
const doubtfulAfterMs = 25;
/** What `waitUntil` keeps running may hold up the end of a draining isolate for so long. */
const backgroundTimeoutMs = 30_000;
/** From the order to terminate to SIGKILL; the app's onTerminate has one second of it. */
const terminateTimeoutMs = 1500;
const newcomerMs = 1000;
/** Between the end of a process and that of its channel, in either order. */
const lastWordsTimeoutMs = 200;
/** Calls that clients gave up and the app never came back from. */
const maximumAbandoned = 10_000;

/** A child process that runs one app: blank at first, then loaded, at last draining. SIGKILL is always the last word. */
export class IsolateProcess {
  readonly slot: SlotFolder;
  readonly calls: IsolateCalls;
  readonly #sockets: IsolateSockets;
  /** Resolves when an app can be given to it; rejects when the process did not get that far. */
  readonly blank: Promise<void>;
  readonly exited: Promise<void>;
  /** On the clock of `performance.now()`. */
  lastUsedMs = performance.now();
  /** When its app was imported. */
  loadedMs = Infinity;
  events: IsolateEvents | undefined;
  readonly #child: ChildProcess;
  readonly #channel: IsolateChannel;
  readonly #floodGuard = new FloodGuard();
  readonly #output: IsolateOutput;
  #state: "starting" | "loaded" | "draining" | "terminating" | "exited" = "starting";
  #background = 0;
  readonly #ending: IsolateEnding;
  readonly #step = new PendingStep();
  readonly #probe: LoopProbe;

  constructor(options: { command: IsolateCommand; quarter: Quarter; needs: IsolateNeeds }) {
    const { slot } = options.quarter;
    this.#ending = new IsolateEnding(options.needs.memoryBytes);
    this.slot = slot;
    const command = options.command.build({ ...options.quarter, ...options.needs, slot: slot.path });
    const { child, socket } = spawnIsolate(command, slot.path);
    this.#child = child;
    child.once("error", (error) => this.#onExit(`could not be started: ${error.message}`));
    this.#channel = this.#open(socket);
    this.#sockets = this.#createSockets();
    this.calls = new IsolateCalls({
      writer: this.#channel.writer,
      floodGuard: this.#floodGuard,
      sockets: this.#sockets,
      onRelease: (abandoned) => this.#onRelease(abandoned),
    });
    this.#probe = new LoopProbe(() => this.#channel.writer.empty(FrameKind.Ping, 0));
    this.blank = this.#step.begin();
    this.blank.catch(() => undefined);
    this.exited = new Promise((resolve) => child.once("close", () => resolve()));
    child.once("exit", (code, signal) => void this.#readToTheEnd(signal ? `was ended by ${signal}` : `ended with status ${code}`));
    this.#output = new IsolateOutput({
      stdout: child.stdout,
      stderr: child.stderr,
      slot: this.slot.path,
      program: options.command.programFolder,
      onEntry: (level, text) => {
        if (level === "error") this.#ending.noteError(text);
        this.events?.onOutput(level, text);
      },
      onDropped: (text) => this.events?.onNotice("warn", text),
    });
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAccepting(): boolean {
    return this.isServing && !this.#probe.isWaiting && !this.#channel.isFull;
  }

  /** It takes calls, if not this moment. */
  get isServing(): boolean {
    return this.#state === "loaded";
  }

  /** Its event loop did not come back yet from a call that was given up. */
  get isSilent(): boolean {
    return this.#probe.isWaiting;
  }

  /** It will be gone in a moment; one that still drains may take its time. */
  get isLeaving(): boolean {
    return this.#state === "terminating";
  }

  get hasExited(): boolean {
    return this.#state === "exited";
  }

  /** Ended without having been asked to, or by our force. */
  get hasCrashed(): boolean {
    return this.#ending.hasCrashed;
  }

  get openSocketCount(): number {
    return this.#sockets.openCount;
  }

  get isIdle(): boolean {
    return this.calls.runningCount === 0 && this.#background === 0 && this.#sockets.openCount === 0;
  }

  /** It may be asked to go for another worker; a new one first gets to serve what it was started for. */
  get isEvictable(): boolean {
    return this.isServing && this.isIdle && (this.calls.acceptedCount > 0 || performance.now() - this.lastUsedMs > newcomerMs);
  }

  /** Has the app imported; rejects with WORKER_START_FAILED. */
  async load(order: LoadOrder): Promise<void> {
    await this.blank;
    const loaded = this.#step.begin();
    this.#channel.writer.json(FrameKind.Load, 0, order);
    await loaded;
    if (this.#state === "starting") this.#state = "loaded";
    this.lastUsedMs = performance.now();
    this.loadedMs = this.lastUsedMs;
  }

  /** False while it may be blocked: then it was asked, and its owner hears `onRoom` when it answers. */
  isResponsive(): boolean {
    if (this.calls.runningCount > 0 && performance.now() - this.#channel.heardMs > doubtfulAfterMs) this.#probe.ask(Infinity);
    return !this.#probe.isWaiting;
  }

  /** Asks whether its event loop turns; true when it answers, false when it ends instead. Waits as long as it does neither. */
  async answers(): Promise<boolean> {
    return Promise.race([this.#probe.answered().then(() => true), this.exited.then(() => false)]);
  }

  run(call: WorkerCall): void {
    if (this.calls.runningCount === 0) this.#channel.restartClock();
    this.calls.run(call);
  }

  /** Kills the process when its event loop does not come back from a call that was given up; `isInTheWay` = others wait for it. */
  killIfBlocked(nowMs: number, isInTheWay: boolean): void {
    if (this.#state === "terminating") return;
    if (this.#probe.isBlocked(nowMs, { isWorking: this.calls.runningCount > 0, isInTheWay })) this.kill("its event loop is blocked");
  }

  tellIdle(): void {
    this.#channel.writer.empty(FrameKind.Idle, 0);
  }

  /** Takes no new call, finishes those it has, then ends. Web sockets are closed after a while, or kept until they end by themselves. */
  drain({ keepsSockets = false } = {}): void {
    if (!keepsSockets) this.#sockets.leaveAfterGrace();
    if (this.#state !== "loaded" && this.#state !== "starting") return;
    this.#state = "draining";
    this.#settle();
    if (this.#background > 0) void this.#limitBackground();
  }

  /** Ends the process: the app's onTerminate, then SIGKILL. */
  async terminate(): Promise<void> {
    if (this.#state !== "exited" && this.#state !== "terminating") {
      this.#state = "terminating";
      this.#ending.asked();
      this.#channel.writer.empty(FrameKind.Terminate, 0);
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), terminateTimeoutMs);
      void this.exited.then(() => clearTimeout(timer));
    }
    await this.exited;
  }

  kill(reason: string): void {
    if (this.#state === "exited") return;
    this.#ending.forced(reason);
    this.events?.onNotice("error", `The isolate was killed: ${reason}.`);
    this.#state = "terminating";
    this.#child.kill("SIGKILL");
  }

  async #limitBackground(): Promise<void> {
    const limit = setTimeout(() => {
      this.#background = 0;
      this.#settle();
    }, backgroundTimeoutMs);
    await this.exited;
    clearTimeout(limit);
  }

  #open(socket: Socket): IsolateChannel {
    return new IsolateChannel(socket, {
      onFrame: this.#onFrame,
      onRead: () => this.calls.letGo(),
      onDrain: () => {
        this.#sockets.onRoom();
        this.events?.onRoom(this);
      },
      onViolation: (reason) => this.kill(reason),
      // An app may close the channel and live on: without it the isolate is of no use.
      onClose: () => setTimeout(() => this.#onChannelLost(), lastWordsTimeoutMs),
    });
  }

  #createSockets(): IsolateSockets {
    const watch = new MessageWatch({
      heardMs: () => this.#channel.heardMs,
      ask: (deadlineMs) => this.#probe.ask(deadlineMs),
      sweep: (nowMs) => {
        this.killIfBlocked(nowMs, false);
        return this.isSilent && this.#state !== "exited";
      },
    });
    const host = { writer: this.#channel.writer, hasRoom: () => !this.#channel.isFull, onMessage: () => watch.onMessage() };
    return new IsolateSockets({ host, floodGuard: this.#floodGuard, onGone: () => this.#onSocketGone() });
  }

  #onSocketGone(): void {
    this.lastUsedMs = performance.now();
    this.#settle();
  }

  readonly #onFrame: FrameHandler = (kind, id, payload) => {
    if (id !== 0 && kind < FrameKind.SocketText) return this.calls.onFrame(kind, id, payload);
    const { buffer, start, end } = payload;
    // Copied: messages wait for their clients one by one.
    if (id !== 0) return this.#sockets.onFrame(kind, id, Buffer.from(buffer.subarray(start, end)));
    switch (kind) {
      case FrameKind.Blank:
      case FrameKind.Loaded:
        return this.#step.done();
      case FrameKind.LoadFailed: {
        const { message } = JSON.parse(buffer.toString("utf8", start, end)) as Partial<LoadFailure>;
        return this.#step.fail(typeof message === "string" ? message : "");
      }
      case FrameKind.Pong:
        this.#probe.onPong();
        this.events?.onRoom(this);
        return;
      case FrameKind.Log:
        this.#floodGuard.count();
        return this.#output.onFrame(payload);
      case FrameKind.Background:
        this.#floodGuard.count();
        this.#background = buffer.readUInt32LE(start);
        return this.#settle();
      case FrameKind.OutOfMemory:
        this.#ending.beyondMemory();
        this.#state = "terminating";
        this.#child.kill("SIGKILL");
        return;
      case FrameKind.Tainted:
        this.#floodGuard.count();
        if (this.#state === "loaded") this.events?.onNotice("warn", "An error escaped the app's handlers; its isolate is replaced.");
        return this.drain();
      default:
        throw new Error(`it sent a frame of kind ${kind}`);
    }
  };

  #onRelease(abandoned: WorkerCall | undefined): void {
    if (abandoned && this.#state !== "exited") this.#probe.ask(abandoned.deadlineMs);
    if (this.calls.abandonedCount > maximumAbandoned) this.kill("its app never came back from too many calls that clients had given up");
    if (this.calls.runningCount === 0) this.lastUsedMs = performance.now();
    this.#settle();
  }

  #settle(): void {
    if (this.#state === "draining" && this.isIdle) void this.terminate();
    this.events?.onRoom(this);
  }

  #onChannelLost(): void {
    if (this.#state !== "terminating") this.kill("it closed its channel");
  }

  /** What the process said before it ended may still be on its way. */
  async #readToTheEnd(how: string): Promise<void> {
    if (this.#state !== "terminating") this.#ending.crashed();
    this.#state = "terminating";
    await Promise.race([Promise.all([this.#channel.closed, this.#output.ended]), delay(lastWordsTimeoutMs)]);
    if (this.#ending.isBeyondMemory) this.events?.onNotice("error", `The isolate ${this.#ending.tell(how)}.`);
    this.#onExit(how);
  }

  #onExit(how: string): void {
    if (this.#state === "exited") return;
    const end = this.#ending.tell(how);
    if (this.hasCrashed && !this.#ending.isKnown && !this.#step.isPending) this.events?.onNotice("error", `The isolate ${how}.`);
    if (this.#state !== "terminating") this.#ending.crashed();
    this.#state = "exited";
    this.#channel.close();
    this.#step.failToEnd(end);
    this.#sockets.failAll();
    this.calls.failAll(new ApiError("WORKER_CRASHED", `The worker's process ${end} while it handled the request.`));
    void this.slot.remove().catch(() => undefined);
    this.events?.onExit(this, end);
  }
}
