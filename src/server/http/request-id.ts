import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";

/** 1 to 128 visible ASCII characters. */
const acceptedId = /^[\x21-\x7e]{1,128}$/;

/** The correlation id of a request: the caller's when it is acceptable, else a new one. */
export function requestIdOf(request: IncomingMessage, create: () => string = randomUUID): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptedId.test(given) ? given : create();
}
