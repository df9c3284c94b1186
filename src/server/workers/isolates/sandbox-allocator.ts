import { closeSync } from "node:fs";
import { chmod, chown, stat } from "node:fs/promises";
import path from "node:path";
import { ApiError } from "../../../shared/api-error.js";
import type { Log } from "../../log/log.js";
import { isolateProgram } from "./isolate-command.js";
import type { IsolateNeeds } from "./isolate-pool.js";
import { UidPool } from "./uid-pool.js";
import { makeGranted, openGranted, SymbolicLinkError } from "../sandbox/sandbox-paths.js";
import { sandboxProgram } from "../sandbox/sandbox-command.js";
import type { LayerState } from "../sandbox/sandbox-policy.js";
import { SandboxDirectories, type SlotDirectoryPaths, type SandboxFolder } from "./sandbox-folder.js";

export interface QuartersOptions extends SlotDirectoryPaths {
  /** Users for isolates to run as, where the daemon may switch. */
  readonly ownUsers?:
    | {
        readonly uids: { readonly first: number; readonly last: number };
        /** Names the daemon among those that were given the same users. */
        readonly daemon: string;
        /** JSON file with the user of each worker name. */
        readonly namesFile?: string;
        /** In place of those above: every user must be able to go into them. */
        readonly slots: SlotDirectoryPaths;
        /** The folders of apps, which they have to be able to go into. */
        readonly appDirectories: readonly string[];
      }
    | undefined;
  readonly log: Log;
}

/** The other isolates that run as the same user: none, those of the same worker, or those of several workers. */
export type UserSharing = "none" | "worker" | "workers";

export interface Quarter {
  readonly slot: SandboxFolder;
  readonly user: number | undefined;
  readonly sharing: UserSharing;
}

interface OpenQuarters {
  readonly slots: SandboxDirectories;
  readonly users: UidPool | undefined;
  readonly ownUser: LayerState;
}

/** Where isolates live, and as whom: each gets a folder of its own, and a user of its own where the daemon can give it one. */
export class SandboxAllocator {
  readonly #ready: Promise<OpenQuarters>;
  #slots = 0;
  readonly #endings = new Set<Promise<void>>();

  constructor(options: QuartersOptions) {
    this.#ready = open(options);
    this.#ready.catch(() => undefined);
  }

  /** Whether isolates run as users of their own. */
  async ownUser(): Promise<LayerState> {
    return (await this.#ready).ownUser;
  }

  async give({ permissions, name, folder, hidden }: IsolateNeeds): Promise<Quarter> {
    const { slots, users } = await this.#ready;
    // Taken before anything is waited for: two isolates in one folder would read each other's apps, and the first to end takes it along.
    const slotName = String((this.#slots += 1));
    const keepsFiles = permissions.some((permission) => permission.startsWith("fs-")) || folder !== undefined;
    const user = keepsFiles ? users?.takeNamed(name) : users?.take();
    prepareGranted(permissions, user);
    if (folder !== undefined && user !== undefined) await makeReadable(folder, user);
    const slot = await slots.createSlot(slotName, { reader: user, app: folder === undefined ? undefined : { folder, hidden } });
    return { slot, user, sharing: keepsFiles ? "worker" : user !== undefined && users?.isShared(user) ? "workers" : "none" };
  }

  /** The isolate is gone. What it could leave running goes too, before anybody else becomes that user. */
  async takeBack({ user }: Quarter, { permissions }: Pick<IsolateNeeds, "permissions">): Promise<void> {
    const { users } = await this.#ready;
    if (user === undefined || users === undefined) return;
    const hasOwnProcesses = permissions.some((permission) => ["child-process", "worker-threads", "addons"].includes(permission));
    if (hasOwnProcesses && !users.isShared(user)) await this.#endAll(users, user);
    users.giveBack(user);
  }

  async #endAll(users: UidPool, user: number): Promise<void> {
    const ending = users.endAll(user);
    this.#endings.add(ending);
    await ending;
    this.#endings.delete(ending);
  }

  async close(): Promise<void> {
    const { slots } = await this.#ready;
    // A daemon that ends before would leave the processes of workers running.
    await Promise.all(this.#endings);
    await slots.remove();
  }
}

async function open({ slotsDirectory, fallbackSlotsDirectory, ownUsers, log }: QuartersOptions): Promise<OpenQuarters> {
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
      log.info({ slots: ownUsers.slots.slotsDirectory, users: uids }, "isolates run as users of their own");
      return { slots, users, ownUser: { isActive: true } };
    }
    reason = `users ${uids.first}-${uids.last} (RUNTIME_WORKER_UIDS) cannot run isolates: ${obstacle}`;
    await slots.remove().catch(() => undefined);
    log.warn(
      `workers run as the daemon's own user, with one wall less: users ${uids.first}-${uids.last} (RUNTIME_WORKER_UIDS) cannot run them, because ${obstacle}`,
    );
  }
  const slots = new SandboxDirectories({ slotsDirectory, fallbackSlotsDirectory }, 0o700);
  await slots.prepare();
  return { slots, users: undefined, ownUser: { isActive: false, reason } };
}

/**
 * Makes the folders that an isolate may write to and that are not there; those that are belong to whoever made them. Throws
 * WORKER_START_FAILED for a path through a symbolic link: the worker could have made it, and would reach what the operator did not grant.
 */
function prepareGranted(permissions: readonly string[], user: number | undefined): void {
  for (const permission of permissions) {
    const [, kind, target] = /^fs-(read|write):(.+)$/.exec(permission) ?? [];
    if (target === undefined) continue;
    try {
      if (kind === "write") makeGranted(target, user);
      else closeSync(openGranted(target));
    } catch (error) {
      // What is not there, or cannot be made, is not open to the isolate either.
      if (error instanceof SymbolicLinkError)
        throw new ApiError("WORKER_START_FAILED", `The worker's permission ${permission} cannot be granted: ${error.message}.`);
    }
  }
}

/** Opens the folder of an app to its user, as far as it is closed: an installed one is the daemon's alone. */
async function makeReadable(folder: string, user: number): Promise<void> {
  const { mode, uid } = await stat(folder);
  if ((mode & 0o005) === 0o005 || uid !== process.getuid?.()) return;
  await chown(folder, uid, user);
  await chmod(folder, (mode & 0o700) | 0o050);
  // A version may lie in the folder of another one that was installed for its whole name.
  const parent = path.dirname(folder);
  const above = await stat(parent);
  if (above.uid === uid) await chmod(parent, (above.mode & 0o777) | 0o011);
}
