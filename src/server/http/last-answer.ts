import type { ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { answerInFlight } from "./connections.js";

/** Has a connection end with the answer that it is busy with. */
export function endAfter(answer: ServerResponse): void {
  if (answer.listenerCount("finish", endConnection) === 0) answer.once("finish", endConnection);
}

/** Whether a connection ends with the answer that it is busy with. */
export function endsAfterAnswer(socket: Duplex): boolean {
  return (answerInFlight(socket)?.listenerCount("finish", endConnection) ?? 0) > 0;
}

function endConnection(this: ServerResponse): void {
  this.req.socket.end();
}
