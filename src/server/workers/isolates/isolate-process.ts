import type { Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../../shared/api-error.js";
import { FloodLimiter } from "./flood-limiter.js";
import { IsolateCalls } from "./isolate-calls.js";
import { IsolateChannel, LivenessProbe } from "./isolate-channel.js";
import { ExitReason, type IsolateChild } from "./isolate-child.js";
import { Deferred } from "./deferred.js";
import type { FrameHandler } from "../protocol/frame-reader.js";
import { FrameKind, type LoadFailure, type LoadOrder } from "../protocol/frames.js";
import { IsolateOutput } from "../logs/isolate-output.js";
import type { SandboxFolder } from "./sandbox-folder.js";
import { IsolateSockets } from "../sockets/isolate-sockets.js";
import type { WorkerCall } from "../engine/worker-call.js";
import type { LogLevel } from "../../../shared/contract/worker-logs.js";

/** One that works on calls and said nothing for so long is asked whether it lives before it gets another. */
const doubtfulAfterMs = 25;
const newcomerMs = 1000;
/** Between the end of a process and that of its channel, in either order. */
const lastWordsTimeoutMs = 200;
/** Calls that clients gave up and the app never came back from. */
const maximumAbandoned = 10_000;

/** What `waitUntil` keeps running may hold up the end of a draining isolate for so long. */
const timeoutMs = 30_000;

/** A child process that runs one app: blank at first, then loaded, at last draining. SIGKILL is always the last word. */
export class IsolateProcess {
  readonly slot: SandboxFolder;
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
  readonly #child: IsolateChild;
  readonly #channel: IsolateChannel;
  readonly #floodGuard = new FloodLimiter();
  readonly #output: IsolateOutput;
  #state: "starting" | "loaded" | "draining" | "terminating" | "exited" = "starting";
  readonly #background = new BackgroundWork();
  readonly #ending: ExitReason;
  readonly #step = new Deferred();
  readonly #probe: LivenessProbe;

  /** `program` is the folder of the isolates' own code. */
  constructor(child: IsolateChild, options: { slot: SandboxFolder; memoryBytes: number; program: string }) {
    this.#ending = new ExitReason(options.memoryBytes);
    this.slot = options.slot;
    this.#child = child;
    void child.ended.then((how) => this.#readToTheEnd(how));
    this.#channel = this.#open(this.#child.socket);
    this.#sockets = new IsolateSockets({
      channel: this.#channel,
      floodGuard: this.#floodGuard,
      blocking: { ask: (deadlineMs) => this.#probe.ask(deadlineMs), sweep: (nowMs) => this.#sweep(nowMs) },
      onGone: () => {
        this.lastUsedMs = performance.now();
        this.#settle();
      },
    });
    this.calls = new IsolateCalls({
      writer: this.#channel.writer,
      floodGuard: this.#floodGuard,
      sockets: this.#sockets,
      onRelease: (abandoned) => this.#onRelease(abandoned),
    });
    this.#probe = new LivenessProbe(() => this.#channel.writer.empty(FrameKind.Ping, 0));
    this.blank = this.#step.begin("blank");
    this.blank.catch(() => undefined);
    this.exited = this.#child.exited;
    this.#output = new IsolateOutput({
      stdout: this.#child.stdout,
      stderr: this.#child.stderr,
      slot: this.slot.path,
      program: options.program,
      onEntry: (level, text) => {
        if (level === "error") this.#ending.noteError(text);
        this.events?.onOutput(level, text);
      },
      onDropped: (text) => this.events?.onNotice("warn", text),
    });
  }

  get pid(): number {
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
    return this.calls.runningCount === 0 && !this.#background.isRunning && this.#sockets.openCount === 0;
  }

  /** It may be asked to go for another worker; a new one first gets to serve what it was started for. */
  get isEvictable(): boolean {
    return this.isServing && this.isIdle && (this.calls.acceptedCount > 0 || performance.now() - this.lastUsedMs > newcomerMs);
  }

  /** Has the app imported; rejects with WORKER_START_FAILED. */
  async load(order: LoadOrder): Promise<void> {
    await this.blank;
    const loaded = this.#step.begin("loaded");
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
    this.#background.limit(() => this.#settle());
  }

  /** Ends the process: the app's onTerminate, then SIGKILL. */
  async terminate(): Promise<void> {
    if (this.#state !== "exited" && this.#state !== "terminating") {
      this.#state = "terminating";
      this.#ending.asked();
      this.#channel.writer.empty(FrameKind.Terminate, 0);
      this.#child.killInTime();
    }
    await this.exited;
  }

  kill(reason: string): void {
    if (this.#state === "exited") return;
    this.#ending.forced(reason);
    this.events?.onNotice("error", `The isolate was killed: ${reason}.`);
    this.#state = "terminating";
    this.#child.kill();
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
      onClose: () => setTimeout(() => this.isLeaving || this.kill("it closed its channel"), lastWordsTimeoutMs),
    });
  }

  /** True while it owes an answer. */
  #sweep(nowMs: number): boolean {
    this.killIfBlocked(nowMs, false);
    return this.isSilent && this.#state !== "exited";
  }

  readonly #onFrame: FrameHandler = (kind, id, payload) => {
    if (id !== 0 && kind < FrameKind.SocketText) return this.calls.onFrame(kind, id, payload);
    const { buffer, start, end } = payload;
    // Copied: messages wait for their clients one by one.
    if (id !== 0) return this.#sockets.onFrame(kind, id, Buffer.from(buffer.subarray(start, end)));
    this.#floodGuard.count();
    switch (kind) {
      case FrameKind.Blank:
        return this.#step.done("blank");
      case FrameKind.Loaded:
        return this.#step.done("loaded");
      case FrameKind.LoadFailed:
        return this.#step.fail(JSON.parse(buffer.toString("utf8", start, end)) as Partial<LoadFailure>);
      case FrameKind.Pong:
        this.#probe.onPong();
        this.events?.onRoom(this);
        return;
      case FrameKind.Log:
        return this.#output.onFrame(payload);
      case FrameKind.Background:
        this.#background.counted(buffer.readUInt32LE(start));
        return this.#settle();
      case FrameKind.OutOfMemory:
        this.#ending.beyondMemory();
        this.#state = "terminating";
        this.#child.kill();
        return;
      case FrameKind.Tainted:
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
    this.#background.end();
    this.#channel.close();
    // A program that it left running may hold the other end: nothing else would end it, nor the wait for `exited`.
    this.#child.closeOutput();
    this.#step.failToEnd(end);
    this.#sockets.failAll();
    this.calls.failAll(new ApiError("WORKER_CRASHED", `The worker's process ${end} while it handled the request.`));
    void this.slot.remove().catch(() => undefined);
    this.events?.onExit(this, end);
  }
}

/** What its owner hears; set when an app is given to the isolate. */
export interface IsolateEvents {
  /** A call ended, or what is in its way is gone: the isolate may have room for another, or nothing to do at all. */
  onRoom(isolate: IsolateProcess): void;
  /** `end` says how, such as `was ended because …`. */
  onExit(isolate: IsolateProcess, end: string): void;
  /** The app wrote something, or something that it threw was not caught. */
  onOutput(level: LogLevel, text: string): void;
  /** Something that an operator should know: why it was killed or is replaced. */
  onNotice(level: LogLevel, text: string): void;
}

/** What an app keeps running after its answers, as its isolate counts it. */
class BackgroundWork {
  #count = 0;
  #limit: NodeJS.Timeout | undefined;

  get isRunning(): boolean {
    return this.#count > 0;
  }

  counted(count: number): void {
    this.#count = count;
  }

  /** Waits no longer than the limit: then nothing counts as running any more, and `onTimeout` is called. */
  limit(onTimeout: () => void): void {
    if (!this.isRunning || this.#limit) return;
    this.#limit = setTimeout(() => {
      this.#count = 0;
      onTimeout();
    }, timeoutMs);
  }

  /** The isolate has ended. */
  end(): void {
    clearTimeout(this.#limit);
  }
}
