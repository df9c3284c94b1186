import type { Instance } from "../../shared/contract/instances.js";

/** Returns the name of a daemon. A `*` marks the daemon that sent the response. */
export function markedName({ name, isSelf }: Pick<Instance, "name" | "isSelf">): string {
  return isSelf ? `${name} *` : name;
}

/** Returns the lag of a replica in seconds, or a dash if it is not known. */
export function lagText({ lagSeconds }: Pick<Instance, "lagSeconds">): string {
  return lagSeconds === null ? "-" : `${lagSeconds.toFixed(1)} s`;
}
