import { toPathSegments } from "../../../shared/package-name.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import {
  activeVersionOf,
  conflictingVersions,
  versionBefore,
  type InstalledVersion,
  type InstalledWorker,
} from "../../../shared/worker-versions.js";
import { ApiError } from "../../../shared/api-error.js";
import { disable, enable } from "../../../shared/contract/worker-changes.js";
import type { Context } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";

const opposite = { enable: "disable", disable: "enable" } as const;

export interface RollbackPlan {
  /** The active version before the rollback. Undefined if no version is enabled. */
  readonly from: InstalledVersion | undefined;
  /** The active version after the rollback. */
  readonly to: InstalledVersion;
  /** The enabled versions that prevent `to` from becoming active. The rollback disables them in this order. */
  readonly inTheWay: readonly InstalledVersion[];
}

/**
 * Returns the plan that activates the version `wanted`. If `wanted` is undefined, returns the plan that activates the previously active
 * version.
 */
export function planRollback({ name, versions }: InstalledWorker, wanted: string | undefined): RollbackPlan {
  const from = activeVersionOf(versions);
  const to = wanted === undefined ? versionBefore(from, versions) : versions.find(({ version }) => version === wanted);
  const hint = `runtimectl workers show ${name}`;
  if (to === undefined && wanted !== undefined)
    throw new CommandError("WORKER_VERSION_NOT_FOUND", `${name} has no version ${wanted}`, { exitCode: exitCodes.notFound, hint });
  if (to === undefined)
    throw new CommandError(
      "NO_EARLIER_VERSION",
      from === undefined
        ? `no version of ${name} is enabled`
        : `${name} has no version before the active version ${sanitizeForTerminal(from.version)}`,
      { exitCode: exitCodes.conflict, hint: `choose a version with --to; ${hint}` },
    );
  if (to === from)
    throw new CommandError("ANSWERS_ALREADY", `${to.version} is already the active version of ${name}`, {
      exitCode: exitCodes.conflict,
      hint,
    });
  return { from, to, inTheWay: conflictingVersions(to, versions) };
}

type Switching = Connection<{ workers: { enable: typeof enable; disable: typeof disable } }>;
type Verb = "enable" | "disable";

/** Enables and disables versions of a worker in sequence, and can revert all of these changes. */
export class VersionTransaction {
  readonly #context: Context;
  readonly #connection: Switching;
  readonly #name: string;
  readonly #done: { readonly verb: Verb; readonly version: string }[] = [];

  constructor(context: Context, connection: Switching, name: string) {
    this.#context = context;
    this.#connection = connection;
    this.#name = name;
  }

  async enable(version: string): Promise<void> {
    await this.#switch("enable", version);
  }

  async disable(version: string): Promise<void> {
    await this.#switch("disable", version);
  }

  /**
   * Reverts all changes in reverse order, even after the user interrupts the command. Returns the commands with which the user can revert
   * the remaining changes.
   */
  async undo(): Promise<string[]> {
    const { signal } = this.#context;
    const connection = signal.aborted ? await this.#connectAfresh().catch(() => this.#connection) : this.#connection;
    const left: string[] = [];
    for (const { verb, version } of this.#done.splice(0).toReversed())
      await this.#call(connection, opposite[verb], version).catch(() =>
        left.push(`runtimectl workers ${opposite[verb]} ${this.#name}@${version}`),
      );
    return left;
  }

  async #switch(verb: Verb, version: string): Promise<void> {
    // Records the change before the request, because the daemon can make the change even if its response is lost. Only a 4xx response
    // proves that the daemon made no change.
    this.#done.push({ verb, version });
    await this.#call(this.#connection, verb, version).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) this.#done.pop();
      throw error;
    });
  }

  async #call({ client }: Switching, verb: Verb, version: string): Promise<void> {
    await client.workers[verb]({ params: { ...toPathSegments(this.#name), version } });
  }

  /** Opens a connection with another signal, because an interruption has already aborted the signal of the command. */
  #connectAfresh(): Promise<Switching> {
    return connect({ ...this.#context, signal: new AbortController().signal }, { workers: { enable, disable } });
  }
}
