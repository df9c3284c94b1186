// Clients that wait for an answer and leave together: leaving-crowd.mjs URL COUNT. Told "come", they come one a millisecond and it says
// "here"; told "leave", all end their connections at once and it says "gone" when all are closed.
import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const [url, count] = process.argv.slice(2);
/** For the last of them to be asked for. */
const settleMs = 200;
let requests = [];

process.on("message", (order) => void (order === "come" ? come() : leave()));
process.on("disconnect", () => process.exit());

async function come() {
  requests = await Promise.all(
    Array.from({ length: Number(count) }, async (_, index) => {
      await delay(index);
      // A connection of its own, which ends with it.
      const request = http.get(url, { agent: false });
      request.on("error", () => undefined);
      return request;
    }),
  );
  await delay(settleMs);
  process.send("here");
}

async function leave() {
  // An error comes first, which says that no answer came.
  const closed = requests.map((request) => new Promise((resolve) => request.once("close", resolve)));
  for (const request of requests) request.destroy();
  await Promise.all(closed);
  process.send("gone");
}
