import http, { type Server } from "node:http";
import net from "node:net";

/** The arguments of a call of `listen` with a port number. */
interface ListenRequest {
  readonly port: number;
  readonly host: string | undefined;
  readonly signal: AbortSignal | undefined;
}

interface Entry {
  readonly port: number;
  readonly address: string;
}

/** Port number that the isolate reports for a server on port 0 if the worker's environment has no PORT. */
export const defaultPort = 3000;

/**
 * The servers of the worker that called `listen`. No port is opened: browsers send the cookies of a host to all its ports, so a worker with
 * a port would receive the operator's session. The daemon serves the HTTP server at the worker's path.
 */
export class ListeningServers {
  readonly #entries = new Map<net.Server, Entry>();
  readonly #waiting = new Set<() => void>();

  /**
   * Replaces the methods of `net.Server` that open a port. `deny` is called when a server listens on a socket path, a descriptor or a
   * handle, and must throw.
   */
  install(deny: () => never): void {
    const entries = this.#entries;
    const add = (server: net.Server, { port, host = "::" }: ListenRequest): void => {
      const entry = { port: port || Number(process.env["PORT"]) || defaultPort, address: host };
      if ([...entries.values()].some((other) => other.port === entry.port && other.address === entry.address)) {
        const error = codedError("EADDRINUSE", `listen EADDRINUSE: address already in use ${entry.address}:${entry.port}`);
        return process.nextTick(() => server.emit("error", Object.assign(error, { syscall: "listen", ...entry })));
      }
      entries.set(server, entry);
      process.nextTick(() => entries.has(server) && server.emit("listening"));
      for (const wake of this.#waiting) wake();
    };
    const { prototype } = net.Server;
    prototype.listen = function listen(this: net.Server, ...args: unknown[]): net.Server {
      const request = readListenArguments(args) ?? deny();
      if (entries.has(this)) throw codedError("ERR_SERVER_ALREADY_LISTEN", "Listen method has been called more than once without closing.");
      const callback = args.at(-1);
      if (typeof callback === "function") this.once("listening", callback as () => void);
      add(this, request);
      request.signal?.addEventListener("abort", () => this.close(), { once: true });
      return this;
    };
    prototype.address = function address(this: net.Server): net.AddressInfo | null {
      const entry = entries.get(this);
      return entry ? { address: entry.address, family: net.isIPv4(entry.address) ? "IPv4" : "IPv6", port: entry.port } : null;
    };
    prototype.close = function close(this: net.Server, callback?: (error?: Error) => void): net.Server {
      const wasListening = entries.delete(this);
      if (callback)
        this.once("close", () => callback(wasListening ? undefined : codedError("ERR_SERVER_NOT_RUNNING", "Server is not running.")));
      process.nextTick(() => this.emit("close"));
      return this;
    };
    Object.defineProperty(prototype, "listening", {
      configurable: true,
      enumerable: true,
      get(this: net.Server) {
        return entries.has(this);
      },
    });
  }

  /** Returns the HTTP server that the daemon serves. This is the server on PORT, otherwise the first HTTP server. */
  find(): Server | undefined {
    const servers = [...this.#entries].filter((entry): entry is [Server, Entry] => entry[0] instanceof http.Server);
    return (servers.find(([, { port }]) => port === Number(process.env["PORT"])) ?? servers[0])?.[0];
  }

  /** True if a listening server is not from node:http, such as a server of node:net, node:tls or node:http2. */
  get hasOtherServer(): boolean {
    return [...this.#entries.keys()].some((server) => !(server instanceof http.Server));
  }

  /** Resolves when another server calls `listen`, or after `timeoutMs`. */
  next(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, timeoutMs);
      this.#waiting.add(wake);
    });
  }
}

/** Parses the arguments of `listen()`. Returns undefined for a Unix socket, a descriptor or a handle. Throws for an invalid port. */
function readListenArguments(args: readonly unknown[]): ListenRequest | undefined {
  const [first, second] = args;
  if (typeof first === "object" && first !== null) {
    const { port, host, path, fd, signal, _handle: handle } = first as Record<string, unknown>;
    if (port === undefined && (path !== undefined || fd !== undefined || handle !== undefined || "onread" in first)) return undefined;
    return { port: readPort(port), host: typeof host === "string" ? host : undefined, signal: signal as AbortSignal | undefined };
  }
  if (typeof first === "string" && !/^\d+$/.test(first.trim())) return undefined;
  const port = typeof first === "function" ? 0 : readPort(first);
  return { port, host: typeof second === "string" ? second : undefined, signal: undefined };
}

function readPort(value: unknown): number {
  const port = value === undefined || value === null ? 0 : Number(value);
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port;
  throw Object.assign(new RangeError(`options.port should be >= 0 and < 65536. Received ${String(value)}.`), {
    code: "ERR_SOCKET_BAD_PORT",
  });
}

function codedError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
