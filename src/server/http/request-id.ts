import type { IncomingMessage } from "node:http";
import { randomUUID } from "node:crypto";

/** 1 to 128 visible ASCII characters. */
const acceptedId = /^[\x21-\x7e]{1,128}$/;
const idsPerDraw = 256;
const newId = newRequestIds();

/** The correlation id of a request: the caller's when it is acceptable, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptedId.test(given) ? given : newId();
}

/**
 * Returns a function that makes ids as `randomUUID` does, for a third of the price, which counts on the path of served requests: their
 * last 8 bits are counted instead of drawn, the other 114 are drawn again for every 256 of them.
 */
export function newRequestIds(): () => string {
  const endings = Array.from({ length: idsPerDraw }, (_, index) => index.toString(16).padStart(2, "0"));
  let beginning = "";
  let count = idsPerDraw;
  return () => {
    if (count === idsPerDraw) {
      beginning = randomUUID().slice(0, -2);
      count = 0;
    }
    const id = beginning + (endings[count] as string);
    count += 1;
    return id;
  };
}
