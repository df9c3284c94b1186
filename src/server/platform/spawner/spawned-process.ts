import type { Socket } from "node:net";
import type { ProcessEnd } from "./messages.js";

/** A process that was started for us. */
export interface SpawnedProcess {
  readonly pid: number;
  /** The sockets that were asked for, by descriptor. */
  readonly sockets: ReadonlyMap<number, Socket>;
  /** Resolves when it has ended; what it wrote before may still be on its way. */
  readonly ended: Promise<ProcessEnd>;
  /** Resolves when it has ended, and all that came from it was read. */
  readonly closed: Promise<ProcessEnd>;
  /** Ends it by SIGKILL. */
  kill(): void;
}
