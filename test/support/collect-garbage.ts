import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * Collects all unreachable objects. V8 frees buffers in its own thread, later on a busy machine. The second collection waits for that, so
 * only used memory remains.
 */
export function collectGarbage(): void {
  collect();
  collect();
}
