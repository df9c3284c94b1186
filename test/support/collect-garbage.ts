import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

/**
 * Collects all unreachable objects. V8 frees buffers in its own thread, which can take longer on a busy machine. A second collection waits
 * for this thread, so that only used memory remains.
 */
export function collectGarbage(): void {
  collect();
  collect();
}
