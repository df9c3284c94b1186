import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");

/** Has V8 let go of all that nobody can reach. */
export const collectGarbage = runInNewContext("gc") as () => void;
