import { Socket } from "node:net";
import { pathToFileURL } from "node:url";
import { findApp, type App } from "./app-module.js";
import { describeError, summariseError } from "./describe-error.js";
import { Exchange } from "./exchange.js";
import { BackgroundWork, ExecutionContext } from "./execution-context.js";
import { BodyKind, FrameKind, type LoadOrder } from "./frames.js";
import { FrameReader, type FrameHandler } from "./frame-reader.js";
import { FrameWriter } from "./frame-writer.js";
import { installRequest } from "./lazy-request.js";
import { lockDown } from "./lockdown.js";
import { installResponse } from "./plain-response.js";

/** The descriptor of our end of the socket pair. */
const channelDescriptor = 3;
/** The app's onTerminate may take this long; the daemon's SIGKILL comes later. */
const terminateGraceMs = 1000;

/** The program of an isolate: waits for an app, imports it, answers requests with it. */
function runIsolate(slot: string): void {
  const exit = process.exit.bind(process);
  const socket = new Socket({ fd: channelDescriptor, readable: true, writable: true });
  const writer = new FrameWriter((pieces) => {
    socket.cork();
    for (const piece of pieces) socket.write(piece);
    socket.uncork();
  });
  const work = new BackgroundWork((pending) => writer.number(FrameKind.Background, 0, pending));
  const exchanges = new Map<number, Exchange>();
  const onDone = (id: number): void => void exchanges.delete(id);
  let app: App | undefined;
  let env: Record<string, string> = {};

  const load = async (order: LoadOrder): Promise<void> => {
    env = { ...order.env };
    Object.assign(process.env, env);
    process.setSourceMapsEnabled(order.sourceMaps);
    try {
      app = findApp((await import(pathToFileURL(order.entry).href)) as Record<string, unknown>);
      writer.empty(FrameKind.Loaded, 0);
    } catch (error) {
      process.stderr.write(`${describeError(error)}\n`);
      writer.json(FrameKind.LoadFailed, 0, { message: summariseError(error, slot) });
    }
  };

  const handle = (exchange: Exchange): void => {
    try {
      const result = (app as App).handle(exchange.request, env, new ExecutionContext(work));
      if (result instanceof Promise) result.then((value) => exchange.answer(value)).catch((error: unknown) => exchange.fail(error));
      else if (isThenable(result))
        Promise.resolve(result)
          .then((value) => exchange.answer(value))
          .catch((error: unknown) => exchange.fail(error));
      else exchange.answer(result);
    } catch (error) {
      exchange.fail(error);
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
      process.stderr.write(`${describeError(error)}\n`);
    }
    exit(0);
  };

  const onFrame: FrameHandler = (kind, id, { buffer, start, end }) => {
    switch (kind) {
      case FrameKind.Request: {
        const bodyKind = buffer[start];
        const bodyStart = start + 5 + buffer.readUInt32LE(start + 1);
        const body = bodyKind === BodyKind.Inline ? buffer.subarray(bodyStart, end) : bodyKind === BodyKind.Stream ? "stream" : undefined;
        const exchange = new Exchange({ id, head: buffer.toString("latin1", start + 5, bodyStart), body, writer, onDone });
        exchanges.set(id, exchange);
        return handle(exchange);
      }
      case FrameKind.Chunk:
        return exchanges.get(id)?.pushBody(buffer.subarray(start, end));
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
        // At once: what comes next may be a long computation.
        return writer.flush();
      case FrameKind.Load:
        return void load(JSON.parse(buffer.toString("utf8", start, end)) as LoadOrder);
      case FrameKind.Idle:
        return void idle().catch((error: unknown) => process.stderr.write(`${describeError(error)}\n`));
      case FrameKind.Terminate:
        return void terminate();
      default:
        throw new Error(`The daemon sent a frame of kind ${kind}.`);
    }
  };

  const reader = new FrameReader(onFrame);
  socket.on("data", (chunk) => reader.read(chunk));
  // The daemon is gone: nothing is left to do.
  socket.on("close", () => exit(0));
  socket.on("error", () => exit(0));
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      process.stderr.write(`${describeError(error)}\n`);
      writer.empty(FrameKind.Tainted, 0);
    });
  }
  lockDown();
  installRequest();
  installResponse();
  writer.empty(FrameKind.Blank, 0);
}

function isThenable(value: unknown): boolean {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

runIsolate(process.argv[2] as string);
