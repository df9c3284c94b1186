import { chmodSync, closeSync, openSync, rmSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import path from "node:path";
import { createInterface } from "node:readline";
import type { Log } from "../../log/log.js";

/** Socket in the state directory through which the backup program requests copies of data folders. */
export const copySocketName = "data-copies.sock";
const privateMode = 0o600;

/**
 * Response to the line with the name of a worker: the path of the copy, null if the worker has no data folder, or the error of a failed
 * copy.
 */
export type CopyResponse = { readonly folder: string | null } | { readonly error: string };

interface CopyServerOptions {
  readonly stateDirectory: string;
  readonly copy: (name: string) => Promise<{ folder: string; remove: () => Promise<void> } | undefined>;
  readonly log: Log;
}

/**
 * Copies data folders for the backup program. Each connection sends one line with the name of a worker and receives one line of JSON. The
 * daemon deletes the copy when the connection ends, even if the backup was killed.
 */
export class CopyServer {
  readonly #server: Server;
  readonly #options: CopyServerOptions;
  readonly #folder: number;

  private constructor(options: CopyServerOptions) {
    this.#options = options;
    this.#folder = openSync(options.stateDirectory, "r");
    this.#server = createServer((socket) => void this.#serve(socket));
  }

  static async listen(options: CopyServerOptions): Promise<CopyServer> {
    const server = new CopyServer(options);
    rmSync(path.join(options.stateDirectory, copySocketName), { force: true });
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    // Binds through /proc, because the path of the state directory can exceed the 107 bytes of a socket address.
    server.#server.once("error", reject).listen(`/proc/self/fd/${server.#folder}/${copySocketName}`, resolve);
    await promise;
    chmodSync(path.join(options.stateDirectory, copySocketName), privateMode);
    server.#server.unref();
    return server;
  }

  close(): void {
    this.#server.close();
    closeSync(this.#folder);
  }

  async #serve(socket: Socket): Promise<void> {
    const { log, copy } = this.#options;
    socket.on("error", () => undefined);
    const closed = new Promise<void>((resolve) => socket.once("close", () => resolve()));
    const respond = (response: CopyResponse): unknown => socket.write(`${JSON.stringify(response)}\n`);
    try {
      for await (const name of createInterface({ input: socket })) {
        const copied = await copy(name);
        respond({ folder: copied?.folder ?? null });
        await closed;
        await copied?.remove();
        return;
      }
    } catch (error) {
      log.error({ err: error }, "a data folder could not be copied for a backup");
      respond({ error: (error as Error).message });
      socket.end();
    }
  }
}
