import { stat } from "node:fs";
import path from "node:path";
import { pathToFileURL } from "node:url";
import { installRequest } from "../../web/lazy-request.js";
import { findApp, type App } from "./app.js";
import { Assets } from "./assets.js";
import { installCloudflareModule } from "./cloudflare-module.js";
import { installWebGlobals } from "./web-globals.js";
import { installWorkingDirectory } from "./working-directory.js";
import { boundOutput, installConsole } from "./console.js";
import { DaemonChannel, LogChannel } from "./channel.js";
import { summariseError, isOutOfMemory, SourcePositions } from "./stack-traces.js";
import { Exchange } from "./exchange.js";
import { SlotMap } from "../protocol/slot-map.js";
import { BackgroundWork, ExecutionContext } from "./execution-context.js";
import { BodyKind, FrameKind, LogCode, type LoadOrder } from "../protocol/frames.js";
import type { FrameHandler } from "../protocol/frame-reader.js";
import type { IsolateSettings } from "./isolate-settings.js";
import { lockDown } from "./lockdown.js";
import { defaultPort, ListeningServers } from "./node-server/listening-servers.js";
import { createPathHider } from "../protocol/log-text.js";
import { installResponse } from "./plain-response.js";
import { installWebSocketPair } from "./web-socket.js";
import { WebSockets } from "./web-sockets.js";

/** Time limit in ms for `onTerminate` of the worker. This limit ends before the daemon sends SIGKILL. */
const terminateGraceMs = 1000;

/** The isolate program: waits for a worker, imports it, and serves requests with it. */
function runIsolate({ slot, settings }: { slot: string; settings: IsolateSettings }): void {
  // Starts a file operation early, so that libuv creates its thread pool with four threads. Later, the worker could enlarge the pool by
  // UV_THREADPOOL_SIZE.
  stat(import.meta.filename, () => undefined);
  const exit = process.exit.bind(process);
  const enterFolder = installWorkingDirectory();
  const exchanges = new SlotMap<Exchange>();
  const channel = new DaemonChannel({
    onFrame: (kind, id, payload) => onFrame(kind, id, payload),
    isSettled: () => exchanges.size === 0,
    onGone: () => exit(0),
  });
  const { writer } = channel;
  const positions = new SourcePositions(path.join(slot, "app"));
  const hidePaths = createPathHider({ slot, program: path.resolve(import.meta.dirname, "../..") });
  const log = new LogChannel({
    writer,
    queuedBytes: () => channel.queuedBytes,
    tidy: (text) => hidePaths(positions.map(text)),
  });
  const work = new BackgroundWork({ reportPending: (pending) => writer.number(FrameKind.Background, 0, pending), report: log.report });
  const webSockets = new WebSockets(writer);
  const events = installWebGlobals(log.report);
  const onDone = (id: number): void => {
    exchanges.clear(id);
    channel.settle();
  };
  const servers = new ListeningServers();
  let app: App | undefined;
  let env: Record<string, unknown> = {};

  const load = async (order: LoadOrder): Promise<void> => {
    const [appFolder, temporaryFolder] = [path.join(slot, "app"), path.join(slot, "tmp")];
    env = { ...order.env, ...(order.assets && { ASSETS: new Assets(order.assets, appFolder) }) };
    const defaults = { NODE_ENV: "production", PORT: String(defaultPort), HOME: temporaryFolder };
    Object.assign(process.env, defaults, order.env, { TMPDIR: temporaryFolder });
    enterFolder(appFolder);
    process.setSourceMapsEnabled(order.sourceMaps);
    installCloudflareModule({ env, waitUntil: (promise) => work.add(promise) });
    try {
      const module = (await import(pathToFileURL(order.entry).href)) as Record<string, unknown>;
      app = await findApp({ module, servers, report: log.report });
      writer.empty(FrameKind.Loaded, 0);
    } catch (error) {
      log.report(error);
      writer.json(FrameKind.LoadFailed, 0, { message: summariseError(error, slot) });
    }
  };

  const fail = (exchange: Exchange, error: unknown): void => {
    if (isOutOfMemory(error)) return endForMemory(error);
    exchange.fail(error);
  };

  /** Reports that the worker has used up its memory. The daemon then fails the running requests and kills this process. */
  const endForMemory = (error: unknown): void => {
    log.report(error);
    writer.empty(FrameKind.OutOfMemory, 0);
    writer.flush();
  };

  const handle = (exchange: Exchange): void => {
    try {
      const result = (app as App).handle(exchange.request, env, new ExecutionContext(work));
      if (!isThenable(result)) return exchange.answer(result);
      Promise.resolve(result)
        .then((value) => channel.collect(() => exchange.answer(value)))
        .catch((error: unknown) => fail(exchange, error));
    } catch (error) {
      fail(exchange, error);
    }
  };

  const idle = async (): Promise<void> => {
    await app?.onIdle();
  };

  const terminate = async (): Promise<void> => {
    setTimeout(exit, terminateGraceMs, 0);
    try {
      await app?.onTerminate();
    } catch (error) {
      log.report(error);
    }
    exit(0);
  };

  const onFrame: FrameHandler = (kind, id, { buffer, start, end }) => {
    switch (kind) {
      case FrameKind.Request: {
        const bodyKind = buffer[start];
        const bodyStart = start + 5 + buffer.readUInt32LE(start + 1);
        const body = bodyKind === BodyKind.Inline ? copyOf(buffer, bodyStart, end) : bodyKind === BodyKind.Stream ? "stream" : undefined;
        const exchange = new Exchange({ id, head: buffer.toString("latin1", start + 5, bodyStart), body, writer, log, webSockets, onDone });
        exchanges.set(id, exchange);
        return handle(exchange);
      }
      case FrameKind.Chunk:
        return exchanges.get(id)?.pushBody(copyOf(buffer, start, end));
      case FrameKind.End:
        return exchanges.get(id)?.endBody();
      case FrameKind.Abort:
        return exchanges.get(id)?.abortBody();
      case FrameKind.Credit:
        return exchanges.get(id)?.addCredit(buffer.readUInt32LE(start));
      case FrameKind.Cancel:
        return exchanges.get(id)?.cancel();
      case FrameKind.Ping:
        writer.empty(FrameKind.Pong, 0);
        // Flushes the Pong frame immediately, because the worker can start a long computation next.
        return writer.flush();
      case FrameKind.Load:
        return void load(JSON.parse(buffer.toString("utf8", start, end)) as LoadOrder);
      case FrameKind.Idle:
        return void idle().catch(log.report);
      case FrameKind.Terminate:
        return void terminate();
      default:
        if (webSockets.onFrame(kind, id, Buffer.from(copyOf(buffer, start, end).buffer))) return;
        throw new Error(`The daemon sent a frame of kind ${kind}.`);
    }
  };

  const onUncaught = (error: unknown, isUnhandled: () => boolean): void => {
    if (isOutOfMemory(error)) return endForMemory(error);
    if (!isUnhandled()) return;
    log.report(error);
    writer.empty(FrameKind.UncaughtError, 0);
  };
  process.on("uncaughtException", (error: unknown) => onUncaught(error, () => events.dispatchError(error)));
  process.on("unhandledRejection", (error: unknown, promise) => onUncaught(error, () => events.dispatchRejection(promise, error)));
  // At exit, reports the dropped output and sends all waiting frames.
  process.on("exit", () => log.end());
  installConsole((code, text) => log.write(code, text));
  for (const stream of [process.stdout, process.stderr]) {
    boundOutput(stream, () => log.write(LogCode.Warn, "Output is dropped: the worker writes faster than the daemon reads."));
  }
  // Ignores these signals. A terminal or service manager sends them to all processes, but the daemon stops its isolates after their
  // requests.
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => undefined);
  lockDown({ ...settings, channel: channel.socket, servers, report: (text) => log.write(LogCode.Error, text) });
  installRequest();
  installResponse();
  installWebSocketPair(log.report);
  writer.empty(FrameKind.Ready, 0);
}

/** Copies the bytes of a frame for the worker, because the channel uses its buffer again for the next frames. */
function copyOf(buffer: Buffer, start: number, end: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(buffer.subarray(start, end));
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

const [slot, settings] = process.argv.slice(2) as [string, string];
runIsolate({ slot, settings: JSON.parse(settings) as IsolateSettings });
