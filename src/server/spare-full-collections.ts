import { setFlagsFromString } from "node:v8";

/** How much larger than after the last full collection of garbage the heap may become before the next, in percent of that. */
const growthPercent = 200;

/**
 * Each piece of a body that clients send is memory of its own outside of V8's heap, and counts as a growth of that until the young generation
 * is cleaned, every 32 MB. After a quiet time, in which V8 makes the heap as small as it can, that is more growth than it allows by itself:
 * as long as bodies come it then marks the whole heap for every 32 MB, for half as much CPU again. For the whole process, from here on.
 */
export function spareFullCollections(): void {
  setFlagsFromString(`--heap-growing-percent=${growthPercent}`);
}
