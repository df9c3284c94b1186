import { once } from "node:events";

/** Sends a message to a child process over IPC. Resolves with the response. */
export async function tell(child, order) {
  const answer = once(child, "message");
  child.send(order);
  return (await answer)[0];
}
