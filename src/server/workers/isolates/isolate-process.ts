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

/** If a busy isolate has sent nothing for this time in ms, the daemon sends a ping before the next call. */
const pingAfterMs = 25;
const newcomerMs = 1000;
/** Maximum time in ms between the exit of the process and the close of its channel. Either of them can happen first. */
const finalOutputTimeoutMs = 200;
/** Maximum number of cancelled calls that the worker has not completed. Above this number, the daemon kills the isolate. */
const maximumAbandoned = 10_000;

/** Maximum time in ms for which promises of `waitUntil` keep a draining isolate running. */
const timeoutMs = 30_000;

/**
 * The process of an isolate, which runs one worker. Its states are starting (or standby), loaded, draining, terminating, exited. If the
 * process does not stop in time, the daemon kills it.
 */
export class IsolateProcess {
  readonly slot: SandboxFolder;
  readonly calls: IsolateCalls;
  readonly #sockets: IsolateSockets;
  /** Resolves when the isolate can load a worker. Rejects if the process exits first. */
  readonly ready: Promise<void>;
  readonly exited: Promise<void>;
  /** Time of the isolate's last activity, on the clock of `performance.now()`. */
  lastUsedMs = performance.now();
  /** Time at which the isolate has imported the worker, by the clock of `performance.now()`. Infinity before. */
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

  /** `program` is the folder of the isolate program. Its path must not appear in the output of the worker. */
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
    this.ready = this.#step.begin("ready");
    this.ready.catch(() => undefined);
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

  /**
   * True from the load of the worker until the isolate drains. `isAccepting` is stricter: it is also false while a ping is pending or the
   * channel is full.
   */
  get isServing(): boolean {
    return this.#state === "loaded";
  }

  /** True while a ping is pending. */
  get isSilent(): boolean {
    return this.#probe.isWaiting;
  }

  /** True while the process terminates. False while the isolate still drains. */
  get isTerminating(): boolean {
    return this.#state === "terminating";
  }

  get hasExited(): boolean {
    return this.#state === "exited";
  }

  /** True if the process exited by itself, or if the daemon killed it because of an error. */
  get hasCrashed(): boolean {
    return this.#ending.hasCrashed;
  }

  get openSocketCount(): number {
    return this.#sockets.openCount;
  }

  get isIdle(): boolean {
    return this.calls.runningCount === 0 && !this.#background.isRunning && this.#sockets.openCount === 0;
  }

  /**
   * True if the pool is allowed to stop this idle isolate for another worker. False in the first second after the load if the isolate has
   * received no call yet.
   */
  get isEvictable(): boolean {
    return this.isServing && this.isIdle && (this.calls.acceptedCount > 0 || performance.now() - this.lastUsedMs > newcomerMs);
  }

  /** Imports the worker into the isolate. Rejects with WORKER_START_FAILED if the import fails. */
  async load(order: LoadOrder): Promise<void> {
    await this.ready;
    const loaded = this.#step.begin("loaded");
    this.#channel.writer.json(FrameKind.Load, 0, order);
    await loaded;
    if (this.#state === "starting") this.#state = "loaded";
    this.lastUsedMs = performance.now();
    this.loadedMs = this.lastUsedMs;
  }

  /**
   * Returns false while the event loop of the isolate is possibly blocked. A ping is then pending, and the response to it triggers
   * `onCapacity`.
   */
  isResponsive(): boolean {
    if (this.calls.runningCount > 0 && performance.now() - this.#channel.lastReadMs > pingAfterMs) this.#probe.ask(Infinity);
    return !this.#probe.isWaiting;
  }

  /** Sends a ping. Resolves with true at the response, or with false if the process exits. The caller must set a time limit. */
  async respondsToPing(): Promise<boolean> {
    return Promise.race([this.#probe.answered().then(() => true), this.exited.then(() => false)]);
  }

  run(call: WorkerCall): void {
    if (this.calls.runningCount === 0) this.#channel.restartClock();
    this.calls.run(call);
  }

  /** Kills the process if the event loop is blocked. `hasWaitingCalls` is true if other calls wait for this isolate. */
  killIfBlocked(nowMs: number, hasWaitingCalls: boolean): void {
    if (this.#state === "terminating") return;
    if (this.#probe.isBlocked(nowMs, { isWorking: this.calls.runningCount > 0, hasWaitingCalls })) this.kill("the event loop is blocked");
  }

  notifyIdle(): void {
    this.#channel.writer.empty(FrameKind.Idle, 0);
  }

  /**
   * Accepts no new calls, completes the running calls and stops the process. Closes WebSockets after a grace period, unless `keepsSockets`
   * is true.
   */
  drain({ keepsSockets = false } = {}): void {
    if (!keepsSockets) this.#sockets.leaveAfterGrace();
    if (this.#state !== "loaded" && this.#state !== "starting") return;
    this.#state = "draining";
    this.#settle();
    this.#background.limit(() => this.#settle());
  }

  /** Stops the process. The isolate calls the worker's `onTerminate` and exits. If it does not exit in time, the daemon sends SIGKILL. */
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
      onRead: () => this.calls.uncork(),
      onDrain: () => {
        this.#sockets.onCapacity();
        this.events?.onCapacity(this);
      },
      onViolation: (reason) => this.kill(reason),
      // Kills the isolate if its channel closes, because the worker can close the channel and continue to run.
      onClose: () => setTimeout(() => this.isTerminating || this.kill("the isolate closed its channel"), finalOutputTimeoutMs),
    });
  }

  /** Kills a blocked process. Returns true while a ping is pending. */
  #sweep(nowMs: number): boolean {
    this.killIfBlocked(nowMs, false);
    return this.isSilent && this.#state !== "exited";
  }

  readonly #onFrame: FrameHandler = (kind, id, payload) => {
    if (id !== 0 && kind < FrameKind.SocketText) return this.calls.onFrame(kind, id, payload);
    const { buffer, start, end } = payload;
    // Copies the payload, because a WebSocket message can wait for its client after the read buffer is overwritten.
    if (id !== 0) return this.#sockets.onFrame(kind, id, Buffer.from(buffer.subarray(start, end)));
    this.#floodGuard.count();
    switch (kind) {
      case FrameKind.Ready:
        return this.#step.done("ready");
      case FrameKind.Loaded:
        return this.#step.done("loaded");
      case FrameKind.LoadFailed:
        return this.#step.fail(JSON.parse(buffer.toString("utf8", start, end)) as Partial<LoadFailure>);
      case FrameKind.Pong:
        this.#probe.onPong();
        this.events?.onCapacity(this);
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
      case FrameKind.UncaughtError:
        if (this.#state === "loaded") this.events?.onNotice("warn", "An uncaught error occurred in the worker. The isolate is replaced.");
        return this.drain();
      default:
        throw new Error(`the isolate sent a frame of kind ${kind}`);
    }
  };

  #onRelease(abandoned: WorkerCall | undefined): void {
    if (abandoned && this.#state !== "exited") this.#probe.ask(abandoned.deadlineMs);
    if (this.calls.abandonedCount > maximumAbandoned) this.kill(`more than ${maximumAbandoned} cancelled calls did not finish`);
    if (this.calls.runningCount === 0) this.lastUsedMs = performance.now();
    this.#settle();
  }

  #settle(): void {
    if (this.#state === "draining" && this.isIdle) void this.terminate();
    this.events?.onCapacity(this);
  }

  /** Waits until the daemon has read all output of the exited process, then reports the exit. */
  async #readToTheEnd(how: string): Promise<void> {
    if (this.#state !== "terminating") this.#ending.crashed();
    this.#state = "terminating";
    await Promise.race([Promise.all([this.#channel.closed, this.#output.ended]), delay(finalOutputTimeoutMs)]);
    if (this.#ending.isBeyondMemory) this.events?.onNotice("error", `The isolate ${this.#ending.reasonText(how)}.`);
    this.#onExit(how);
  }

  #onExit(how: string): void {
    if (this.#state === "exited") return;
    const end = this.#ending.reasonText(how);
    if (this.hasCrashed && !this.#ending.isKnown && !this.#step.isPending) this.events?.onNotice("error", `The isolate ${how}.`);
    if (this.#state !== "terminating") this.#ending.crashed();
    this.#state = "exited";
    this.#background.end();
    this.#channel.close();
    // Closes the output sockets. A program that the worker has started can keep them open, and `exited` would never resolve.
    this.#child.closeOutput();
    this.#step.failToEnd(end);
    this.#sockets.failAll();
    this.calls.failAll(new ApiError("WORKER_CRASHED", `The worker's process ${end} during the request.`));
    void this.slot.remove().catch(() => undefined);
    this.events?.onExit(this, end);
  }
}

/** Functions by which an isolate notifies its isolate set. Set before the isolate loads a worker. */
export interface IsolateEvents {
  /** Called after the end of a call, or when the channel accepts bytes again. The isolate can then accept a call, or is idle. */
  onCapacity(isolate: IsolateProcess): void;
  /** Called after the process has exited. `end` is the reason, such as `was killed because …`. */
  onExit(isolate: IsolateProcess, end: string): void;
  /** Called when the worker has written output or thrown an uncaught error. */
  onOutput(level: LogLevel, text: string): void;
  /** Called with a message for the operator, such as the reason why the daemon killed or replaced an isolate. */
  onNotice(level: LogLevel, text: string): void;
}

/**
 * Counts the `waitUntil` promises that have not settled, as the isolate reports them. While the isolate drains, the promises keep it
 * running for at most 30 s.
 */
class BackgroundWork {
  #count = 0;
  #limit: NodeJS.Timeout | undefined;

  get isRunning(): boolean {
    return this.#count > 0;
  }

  counted(count: number): void {
    this.#count = count;
  }

  /** Starts the time limit for the pending promises. After 30 s, ignores the remaining promises and calls `onTimeout`. */
  limit(onTimeout: () => void): void {
    if (!this.isRunning || this.#limit) return;
    this.#limit = setTimeout(() => {
      this.#count = 0;
      onTimeout();
    }, timeoutMs);
  }

  /** Stops the timer after the process has exited. */
  end(): void {
    clearTimeout(this.#limit);
  }
}
