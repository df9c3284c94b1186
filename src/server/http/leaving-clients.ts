import type { IncomingMessage, Server } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { endsAfterAnswer } from "./last-answer.js";

/** So many connections end in one turn of the event loop: less than half a millisecond's work, for Node more than for us. */
const endsPerTurn = 8;

/**
 * Ends connections whose clients end theirs in the midst of a request, some in each turn of the event loop. Node itself would end them where
 * they are found: a thousand that leave together would hold up everybody else for as long as all of them take. Those that are reset are
 * gone at once; Node leaves nobody a choice there.
 */
export function spreadLeavingClients(server: Server): void {
  // Node leaves those to us then that wait for an answer; it still ends the others at once.
  Object.assign(server, { httpAllowHalfOpen: true });
  const leaving = new Set<Socket>();
  let isScheduled = false;
  const endSome = (): void => {
    let ends = 0;
    for (const socket of leaving) {
      leaving.delete(socket);
      socket.end();
      if (++ends === endsPerTurn) break;
    }
    isScheduled = leaving.size > 0;
    if (isScheduled) setImmediate(endSome);
  };
  function onEnd(this: Socket): void {
    if (this.writableEnded || endsAfterAnswer(this)) return;
    leaving.add(this);
    if (!isScheduled) setImmediate(endSome);
    isScheduled = true;
  }
  server.on("connection", (socket: Socket) => socket.on("end", onEnd));
  // Whoever takes it decides when it ends.
  server.on("upgrade", (_request: IncomingMessage, socket: Duplex) => socket.removeListener("end", onEnd));
}
