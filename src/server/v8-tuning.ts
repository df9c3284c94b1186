import { setFlagsFromString } from "node:v8";

/** How much larger than after the last full collection of garbage the heap may become before the next, in percent of that. */
const growthPercent = 200;

/**
 * What belongs to a call lives until its isolate has answered. Where hundreds wait at once V8 takes that for a long life, and from then on
 * makes the objects of every call in old space, which only full collections clean: a call takes half as much CPU again, for the rest of
 * the daemon's life. For the whole process, from here on; to be called when all is loaded, since V8 does not take code caches that were made
 * under other flags, Node's own included.
 */
export function keepCallsYoung(): void {
  setFlagsFromString("--no-allocation-site-pretenuring");
}

/**
 * Each piece of a body that clients send is memory of its own outside of V8's heap, and counts as a growth of that until the young generation
 * is cleaned, every 32 MB. After a quiet time, in which V8 makes the heap as small as it can, that is more growth than it allows by itself:
 * as long as bodies come it then marks the whole heap for every 32 MB, for half as much CPU again. For the whole process, from here on.
 */
export function spareFullCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
