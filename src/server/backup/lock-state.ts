import { StateLock } from "../access/state-lock.js";
import { BackupError } from "./backup-format.js";

/** Locks the state directory of a stopped daemon. Throws DAEMON_RUNNING. */
export function lockState(stateDirectory: string): StateLock {
  try {
    return new StateLock(stateDirectory);
  } catch (cause) {
    throw new BackupError("DAEMON_RUNNING", `a runtimed uses ${stateDirectory}, or the directory cannot be locked; nothing was changed`, {
      cause,
      hint: "stop the daemon first: systemctl stop runtimed.socket runtimed.service, or end its process",
    });
  }
}
