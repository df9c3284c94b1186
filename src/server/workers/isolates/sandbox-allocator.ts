import { closeSync } from "node:fs";
import { chmod, chown, stat } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { isolateProgram } from "./isolate-command.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import { UidPool } from "./uid-pool.js";
import { makeDataFolder } from "../data/make-data-folder.js";
import { makeGranted, openGranted, SymbolicLinkError } from "../sandbox/sandbox-paths.js";
import { sandboxProgram } from "../sandbox/sandbox-command.js";
import type { LayerState } from "../sandbox/sandbox-policy.js";
import { SandboxDirectories, type SlotDirectoryPaths, type SandboxFolder } from "./sandbox-folder.js";

export interface SandboxAllocatorOptions extends SlotDirectoryPaths {
  /** User ids for isolates. Undefined if RUNTIME_WORKER_UIDS is off. */
  readonly ownUsers?:
    | {
        readonly uids: { readonly first: number; readonly last: number };
        /** Name that distinguishes this daemon from other daemons with the same range of user ids. */
        readonly daemon: string;
        /** Path of the JSON file that contains the user of each worker name. */
        readonly namesFile?: string;
        /**
         * Directories for sandbox folders, in place of `slotsDirectory` and `fallbackSlotsDirectory`. All users in `uids` must be able to
         * enter them.
         */
        readonly slots: SlotDirectoryPaths;
        /** Directories of worker packages. All users in `uids` must be able to enter them. */
        readonly appDirectories: readonly string[];
      }
    | undefined;
  /**
   * Returns whether the daemon is stopping. A signal to the daemon's process group can then end a starting isolate, and this end must not
   * count as a failure.
   */
  readonly isStopping?: (() => boolean) | undefined;
  readonly log: Log;
}

/** Other isolates with the same user: none, only isolates of the same worker, or isolates of several workers. */
export type UserSharing = "none" | "worker" | "workers";

export interface SandboxAllocation {
  readonly slot: SandboxFolder;
  readonly user: number | undefined;
  readonly sharing: UserSharing;
}

interface OpenedAllocator {
  readonly slots: SandboxDirectories;
  readonly users: UidPool | undefined;
  readonly ownUser: LayerState;
}

/** Gives each isolate a sandbox folder (slot). Also gives the isolate a user id if the daemon can change the user of processes. */
export class SandboxAllocator {
  readonly #ready: Promise<OpenedAllocator>;
  #slots = 0;
  readonly #endings = new Set<Promise<void>>();

  constructor(options: SandboxAllocatorOptions) {
    this.#ready = open(options);
    this.#ready.catch(() => undefined);
  }

  /** Returns whether each isolate runs as a user of its own. If not, also returns the reason. */
  async ownUser(): Promise<LayerState> {
    return (await this.#ready).ownUser;
  }

  async allocate({ permissions, name, folder, hidden, data }: IsolateNeeds): Promise<SandboxAllocation> {
    const { slots, users } = await this.#ready;
    // Gives each isolate its own slot. If two isolates shared a slot, each could read the code of the other, and the first to exit would
    // delete the slot.
    const slotName = String((this.#slots += 1));
    const keepsFiles = permissions.some((permission) => permission.startsWith("fs-")) || folder !== undefined || data !== undefined;
    const user = keepsFiles ? users?.takeNamed(name) : users?.take();
    prepareGranted(permissions, user);
    if (data) await makeDataFolder(data.folder, user);
    if (folder !== undefined && user !== undefined) await makeReadable(folder, user);
    const slot = await slots.createSlot(slotName, { reader: user, app: folder === undefined ? undefined : { folder, hidden } });
    return { slot, user, sharing: keepsFiles ? "worker" : user !== undefined && users?.isShared(user) ? "workers" : "none" };
  }

  /**
   * Releases the user of an exited isolate. First kills the processes that the isolate has left, so that the next isolate with this user
   * runs alone.
   */
  async release({ user }: SandboxAllocation, { permissions }: Pick<IsolateNeeds, "permissions">): Promise<void> {
    const { users } = await this.#ready;
    if (user === undefined || users === undefined) return;
    const hasOwnProcesses = permissions.some((permission) => ["child-process", "worker-threads", "addons"].includes(permission));
    if (hasOwnProcesses && !users.isShared(user)) await this.#endAll(users, user);
    users.giveBack(user);
  }

  async #endAll(users: UidPool, user: number): Promise<void> {
    const ending = users.killAll(user);
    this.#endings.add(ending);
    await ending;
    this.#endings.delete(ending);
  }

  async close(): Promise<void> {
    const { slots } = await this.#ready;
    // Waits until the daemon has killed the processes that exited isolates have left. Otherwise these processes could run longer than the
    // daemon.
    await Promise.all(this.#endings);
    await slots.remove();
  }
}

async function open({
  slotsDirectory,
  fallbackSlotsDirectory,
  ownUsers,
  isStopping,
  log,
}: SandboxAllocatorOptions): Promise<OpenedAllocator> {
  let reason = ownUsers ? "the daemon is not root, or the program setpriv is missing" : "RUNTIME_WORKER_UIDS is off";
  const users = UidPool.find(ownUsers?.uids, ownUsers?.daemon, ownUsers?.namesFile);
  if (ownUsers && users) {
    const { uids, appDirectories } = ownUsers;
    const slots = new SandboxDirectories(ownUsers.slots, 0o711);
    const obstacle = await slots.prepare().then(
      (directory) => users.obstacle([isolateProgram, sandboxProgram, directory, ...appDirectories]),
      (error: unknown) => String(error),
    );
    if (obstacle === undefined) {
      log.info({ slots: ownUsers.slots.slotsDirectory, users: uids }, "each isolate runs as its own user");
      return { slots, users, ownUser: { isActive: true } };
    }
    reason = `users ${uids.first}-${uids.last} (RUNTIME_WORKER_UIDS) cannot run isolates: ${obstacle}`;
    await slots.remove().catch(() => undefined);
    if (!isStopping?.())
      log.warn(
        `per-isolate users are disabled and all workers run as the daemon's user: users ${uids.first}-${uids.last} (RUNTIME_WORKER_UIDS) cannot run isolates: ${obstacle}`,
      );
  }
  const slots = new SandboxDirectories({ slotsDirectory, fallbackSlotsDirectory }, 0o700);
  await slots.prepare();
  return { slots, users: undefined, ownUser: { isActive: false, reason } };
}

/**
 * Creates the missing folders of `fs-write` permissions. Existing folders keep their owner. Throws WORKER_START_FAILED
 * if a path contains a symbolic link, because a worker could have created it to reach other folders.
 */
function prepareGranted(permissions: readonly string[], user: number | undefined): void {
  for (const permission of permissions) {
    const [, kind, target] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
    if (target === undefined) continue;
    try {
      if (kind === "write") makeGranted(target, user);
      else closeSync(openGranted(target));
    } catch (error) {
      // Ignores other errors. The isolate then cannot access this folder.
      if (error instanceof SymbolicLinkError)
        throw new ApiError("WORKER_START_FAILED", `The worker's permission ${permission} cannot be granted: ${error.message}.`);
    }
  }
}

/** Makes a worker's folder readable for the user id `user`. Skips a folder that the daemon's user does not own. */
async function makeReadable(folder: string, user: number): Promise<void> {
  const { mode, uid } = await stat(folder);
  if (uid !== process.getuid?.()) return;
  if ((mode & 0o005) !== 0o005) {
    await chown(folder, uid, user);
    await chmod(folder, (mode & 0o700) | 0o050);
  }
  // The user must also be able to enter the parent folders, which can be closed to other users. Examples are `.staging` during the check of
  // an upload, and an installed version `name` that contains `name/<version>`.
  for (let parent = path.dirname(folder); ; parent = path.dirname(parent)) {
    const above = await stat(parent);
    if ((above.mode & 0o011) === 0o011 || above.uid !== uid) return;
    await chmod(parent, (above.mode & 0o777) | 0o011);
  }
}
