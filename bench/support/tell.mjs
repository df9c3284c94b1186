import { once } from "node:events";

/** Gives a child process an order over IPC; resolves with its answer. */
export async function tell(child, order) {
  const answer = once(child, "message");
  child.send(order);
  return (await answer)[0];
}
