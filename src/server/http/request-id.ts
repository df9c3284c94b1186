import type { IncomingMessage } from "node:http";
import { newRequestIds } from "./new-request-ids.js";

/** 1 to 128 visible ASCII characters. */
const acceptedId = /^[\x21-\x7e]{1,128}$/;
const newId = newRequestIds();

/** The correlation id of a request: the caller's when it is acceptable, else a new one. */
export function requestIdOf(request: IncomingMessage): string {
  const given = request.headers["x-request-id"];
  return typeof given === "string" && acceptedId.test(given) ? given : newId();
}
