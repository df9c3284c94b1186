import { setFlagsFromString } from "node:v8";

/**
 * What belongs to a call lives until its isolate has answered. Where hundreds wait at once V8 takes that for a long life, and from then on
 * makes the objects of every call in old space, which only full collections clean: a call takes half as much CPU again, for the rest of
 * the daemon's life. For the whole process, from here on; to be called when all is loaded, since V8 does not take code caches that were made
 * under other flags, Node's own included.
 */
export function keepCallsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}
