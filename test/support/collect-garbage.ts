import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * Has V8 let go of all that nobody can reach. Buffers it gives back on a thread of its own, which on a busy machine is late; the next
 * collection waits for that, so that what is counted then is in use.
 */
export function collectGarbage(): void {
  collect();
  collect();
}
