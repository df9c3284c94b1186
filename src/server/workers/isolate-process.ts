import { spawn, type ChildProcess } from "node:child_process";
import { writeFile } from "node:fs";
import type { Socket } from "node:net";
import { ApiError } from "../../shared/api-error.js";
import { FloodGuard } from "./flood-guard.js";
import { IsolateCalls } from "./isolate-calls.js";
import type { IsolateCommand } from "./isolate-command.js";
import { FrameReader, type FrameHandler } from "./isolate/frame-reader.js";
import { FrameWriter } from "./isolate/frame-writer.js";
import { FrameKind, type LoadFailure, type LoadOrder } from "./isolate/frames.js";
import { LoopProbe } from "./loop-probe.js";
import { readOutputLines } from "./output-lines.js";
import type { SlotFolder } from "./slot-folder.js";
import type { WorkerCall } from "./worker-call.js";

/** An isolate that does not answer a ping within this time is blocked. */
const pingTimeoutMs = 1000;
/** One that works on calls and said nothing for so long is asked whether it lives before it gets another. */
const doubtfulAfterMs = 25;
/** What `waitUntil` keeps running may hold up the end of a draining isolate for so long. */
const backgroundTimeoutMs = 30_000;
/** From the order to terminate to SIGKILL; the app's onTerminate has one second of it. */
const terminateTimeoutMs = 1500;
const newcomerMs = 1000;
/** Calls that clients gave up and the app never came back from. */
const maximumAbandoned = 10_000;
/** What may wait in the channel of an isolate that does not read; more calls wait in the worker's queue. */
const maximumQueuedBytes = 4 * 1024 * 1024;
/** The kernel's choice when memory is short: an isolate rather than the daemon. */
const oomScoreAdjustment = "500";

/** What its owner hears; set when an app is given to the isolate. */
export interface IsolateEvents {
  /** A call ended, or what is in its way is gone: the isolate may have room for another, or nothing to do at all. */
  onRoom(isolate: IsolateProcess): void;
  onExit(isolate: IsolateProcess): void;
  onOutput(line: string, source: "stdout" | "stderr"): void;
  /** Something that an operator should know: why it was killed or is replaced. */
  onNotice(text: string): void;
}

/** A child process that runs one app: blank at first, then loaded, at last draining. SIGKILL is always the last word. */
export class IsolateProcess {
  readonly slot: SlotFolder;
  readonly memoryBytes: number;
  readonly calls: IsolateCalls;
  /** Resolves when an app can be given to it; rejects when the process did not get that far. */
  readonly blank: Promise<void>;
  readonly exited: Promise<void>;
  /** On the clock of `performance.now()`. */
  lastUsedMs = performance.now();
  events: IsolateEvents | undefined;
  readonly #child: ChildProcess;
  readonly #socket: Socket;
  readonly #writer: FrameWriter;
  readonly #floodGuard = new FloodGuard();
  #state: "starting" | "loaded" | "draining" | "terminating" | "exited" = "starting";
  #background = 0;
  #heardMs = 0;
  #end: string | undefined;
  #hasCrashed = false;
  #loading: { resolve: () => void; reject: (error: ApiError) => void } | undefined;
  readonly #probe: LoopProbe;

  constructor(options: { command: IsolateCommand; slot: SlotFolder; memoryBytes: number }) {
    this.slot = options.slot;
    this.memoryBytes = options.memoryBytes;
    const { file, args } = options.command.build({ slot: this.slot.path, memoryBytes: this.memoryBytes });
    const child = spawn(file, args, { env: {}, cwd: this.slot.path, stdio: ["ignore", "pipe", "pipe", "pipe"] });
    this.#child = child;
    this.#socket = child.stdio[3] as Socket;
    this.#writer = new FrameWriter((pieces) => this.#send(pieces));
    this.calls = new IsolateCalls({
      writer: this.#writer,
      floodGuard: this.#floodGuard,
      onRelease: (abandoned) => this.#onRelease(abandoned),
    });
    this.#probe = new LoopProbe(() => this.#writer.empty(FrameKind.Ping, 0));
    this.blank = new Promise<void>((resolve, reject) => {
      this.#loading = { resolve, reject };
    });
    this.blank.catch(() => undefined);
    this.exited = new Promise((resolve) => child.once("close", () => resolve()));
    child.once("error", (error) => this.#onExit(`could not be started: ${error.message}`));
    child.once("exit", (code, signal) => this.#onExit(signal ? `was ended by ${signal}` : `ended with status ${code}`));
    for (const source of ["stdout", "stderr"] as const) {
      const stream = child[source];
      if (stream) readOutputLines(stream, (line) => this.events?.onOutput(line, source));
    }
    if (child.pid === undefined) return;
    writeFile(`/proc/${child.pid}/oom_score_adj`, oomScoreAdjustment, () => undefined);
    this.#listen();
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  get isAccepting(): boolean {
    return this.isServing && !this.#probe.isWaiting && this.#socket.writableLength < maximumQueuedBytes;
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
    return this.#hasCrashed;
  }

  get isIdle(): boolean {
    return this.calls.runningCount === 0 && this.#background === 0;
  }

  /** It may be asked to go for another worker; a new one first gets to serve what it was started for. */
  get isEvictable(): boolean {
    return this.isServing && this.isIdle && (this.calls.acceptedCount > 0 || performance.now() - this.lastUsedMs > newcomerMs);
  }

  /** Has the app imported; rejects with WORKER_START_FAILED. */
  async load(order: LoadOrder): Promise<void> {
    await this.blank;
    const loaded = new Promise<void>((resolve, reject) => {
      this.#loading = { resolve, reject };
    });
    this.#writer.json(FrameKind.Load, 0, order);
    await loaded;
    if (this.#state === "starting") this.#state = "loaded";
    this.lastUsedMs = performance.now();
  }

  /** False while it may be blocked: then it was asked, and its owner hears `onRoom` when it answers. */
  isResponsive(): boolean {
    if (this.calls.runningCount > 0 && performance.now() - this.#heardMs > doubtfulAfterMs) this.#probe.ask(Infinity);
    return !this.#probe.isWaiting;
  }

  run(call: WorkerCall): void {
    if (this.calls.runningCount === 0) this.#heardMs = performance.now();
    this.lastUsedMs = performance.now();
    this.calls.run(call);
  }

  /**
   * Kills the process when its event loop does not come back from a call that was given up: an endless loop or a blocked system call
   * never would. A long computation has as much time as its call had, and less only when nobody waits for it but others for the loop.
   */
  killIfBlocked(nowMs: number, isInTheWay: boolean): void {
    if (this.#state === "terminating" || this.#probe.silentMs(nowMs) < pingTimeoutMs) return;
    const isUseless = isInTheWay && this.calls.runningCount === 0;
    if (isUseless || this.#probe.isOverdue(nowMs, pingTimeoutMs)) this.kill("its event loop is blocked");
  }

  tellIdle(): void {
    this.#writer.empty(FrameKind.Idle, 0);
  }

  /** Takes no new call, finishes those it has, then ends. */
  drain(): void {
    if (this.#state !== "loaded" && this.#state !== "starting") return;
    this.#state = "draining";
    this.#settle();
    if (this.#background > 0) void this.#limitBackground();
  }

  /** Ends the process: the app's onTerminate, then SIGKILL. */
  async terminate(): Promise<void> {
    if (this.#state !== "exited" && this.#state !== "terminating") {
      this.#state = "terminating";
      this.#end = "was asked to end";
      this.#writer.empty(FrameKind.Terminate, 0);
      const timer = setTimeout(() => this.#child.kill("SIGKILL"), terminateTimeoutMs);
      void this.exited.then(() => clearTimeout(timer));
    }
    await this.exited;
  }

  kill(reason: string): void {
    if (this.#state === "exited") return;
    this.#end = `was stopped because ${reason}`;
    this.events?.onNotice(`The isolate was killed: ${reason}.`);
    this.#hasCrashed = true;
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

  #send(pieces: Uint8Array[]): void {
    if (!this.#socket.writable) return;
    if (pieces.length === 1) {
      this.#socket.write(pieces[0] as Uint8Array);
      return;
    }
    this.#socket.cork();
    for (const piece of pieces) this.#socket.write(piece);
    this.#socket.uncork();
  }

  #listen(): void {
    const reader = new FrameReader(this.#onFrame);
    this.#socket.on("data", (chunk: Buffer) => {
      if (this.#state === "exited") return;
      this.#heardMs = performance.now();
      try {
        reader.read(chunk);
      } catch (error) {
        this.#socket.destroy();
        this.kill(error instanceof Error ? error.message : "it broke the rules of the channel");
      }
    });
    this.#socket.on("error", () => undefined);
    this.#socket.on("drain", () => this.events?.onRoom(this));
    // An app may close the channel and live on: without it the isolate is of no use.
    this.#socket.on("close", () => {
      if (this.#state !== "terminating") this.kill("it closed its channel");
    });
  }

  readonly #onFrame: FrameHandler = (kind, id, payload) => {
    if (id !== 0) return this.calls.onFrame(kind, id, payload);
    const { buffer, start, end } = payload;
    switch (kind) {
      case FrameKind.Blank:
      case FrameKind.Loaded:
        this.#loading?.resolve();
        this.#loading = undefined;
        return;
      case FrameKind.LoadFailed: {
        const { message } = JSON.parse(buffer.toString("utf8", start, end)) as Partial<LoadFailure>;
        const reason = typeof message === "string" ? message.slice(0, 1024) : "";
        this.#loading?.reject(new ApiError("WORKER_START_FAILED", `The worker's code could not be loaded. ${reason}`));
        this.#loading = undefined;
        return;
      }
      case FrameKind.Pong:
        this.#probe.onPong();
        this.events?.onRoom(this);
        return;
      case FrameKind.Background:
        this.#floodGuard.count();
        this.#background = buffer.readUInt32LE(start);
        return this.#settle();
      case FrameKind.Tainted:
        this.#floodGuard.count();
        if (this.#state === "loaded") this.events?.onNotice("An error escaped the app's handlers; its isolate is replaced.");
        return this.drain();
      default:
        throw new Error(`it sent a frame of kind ${kind}`);
    }
  };

  #onRelease(abandoned: WorkerCall | undefined): void {
    if (abandoned && this.#state !== "exited") this.#probe.ask(abandoned.deadlineMs);
    if (this.calls.abandonedCount > maximumAbandoned) this.kill("its app never came back from too many calls that clients had given up");
    this.lastUsedMs = performance.now();
    this.#settle();
  }

  #settle(): void {
    if (this.#state === "draining" && this.isIdle) void this.terminate();
    this.events?.onRoom(this);
  }

  #onExit(how: string): void {
    if (this.#state === "exited") return;
    const end = this.#end ?? how;
    if (this.#state !== "terminating") this.#hasCrashed = true;
    this.#state = "exited";
    this.#socket?.destroy();
    this.#loading?.reject(new ApiError("WORKER_START_FAILED", `The worker's code could not be loaded: its process ${end}.`));
    this.#loading = undefined;
    this.calls.failAll(new ApiError("WORKER_CRASHED", `The worker's process ${end} while it handled the request.`));
    void this.slot.remove().catch(() => undefined);
    this.events?.onExit(this);
  }
}
