import { latestVersion, toPathSegments } from "../../../shared/package-name.js";
import { CommandError } from "../../command/command-error.js";
import { exitCodes } from "../../command/exit-codes.js";
import { sanitizeForTerminal } from "../../output/sanitize-for-terminal.js";
import {
  answeringVersion,
  isStable,
  conflictingVersions,
  type InstalledVersion,
  type InstalledWorker,
} from "../../../shared/worker-versions.js";
import { ApiError } from "../../../shared/api-error.js";
import { disable, enable } from "../../../shared/contract/worker-changes.js";
import type { Context } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";

const opposite = { enable: "disable", disable: "enable" } as const;

export interface RollbackPlan {
  /** What answers now, if anything does. */
  readonly from: InstalledVersion | undefined;
  /** What shall answer. */
  readonly to: InstalledVersion;
  /** Those that are on and would answer in its stead, in the order in which they go. */
  readonly inTheWay: readonly InstalledVersion[];
}

/** What has to be switched so that the version wanted, or the one before the one that answers, answers. */
export function planRollback({ name, versions }: InstalledWorker, wanted: string | undefined): RollbackPlan {
  const from = answeringVersion(versions);
  const to = wanted === undefined ? versionBefore(from, versions) : versions.find(({ version }) => version === wanted);
  const hint = `runtimectl workers show ${name}`;
  if (to === undefined && wanted !== undefined)
    throw new CommandError("WORKER_VERSION_NOT_FOUND", `${name} has no version ${wanted}`, { exitCode: exitCodes.notFound, hint });
  if (to === undefined)
    throw new CommandError(
      "NO_EARLIER_VERSION",
      from === undefined
        ? `no version of ${name} is on`
        : `${name} has no version before ${sanitizeForTerminal(from.version)}, which answers`,
      { exitCode: exitCodes.conflict, hint: `choose one with --to; ${hint}` },
    );
  if (to === from)
    throw new CommandError("ANSWERS_ALREADY", `${name} is answered by ${to.version} already`, { exitCode: exitCodes.conflict, hint });
  return { from, to, inTheWay: conflictingVersions(to, versions) };
}

/** The next lower one; for a stable version, or latest, a stable one if there is any. */
function versionBefore(from: InstalledVersion | undefined, versions: readonly InstalledVersion[]): InstalledVersion | undefined {
  if (from === undefined) return undefined;
  const lower = versions.slice(versions.indexOf(from) + 1);
  const isPrerelease = !isStable(from) && from.version !== latestVersion;
  return isPrerelease ? lower[0] : (lower.find(isStable) ?? lower[0]);
}

type Switching = Connection<{ workers: { enable: typeof enable; disable: typeof disable } }>;
type Verb = "enable" | "disable";

/** Versions of a worker that are switched one after the other, and can all be switched back. */
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
   * Switches all back, what came last first, also after the command was interrupted. Returns what could not be switched back, as
   * commands that a person can run.
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
    // Noted before: a call whose answer is lost may have been heard. One that is refused was not.
    this.#done.push({ verb, version });
    await this.#call(this.#connection, verb, version).catch((error: unknown) => {
      if (error instanceof ApiError && error.status < 500) this.#done.pop();
      throw error;
    });
  }

  async #call({ client }: Switching, verb: Verb, version: string): Promise<void> {
    await client.workers[verb]({ params: { ...toPathSegments(this.#name), version } });
  }

  /** An interrupted command can call nobody. */
  #connectAfresh(): Promise<Switching> {
    return connect({ ...this.#context, signal: new AbortController().signal }, { workers: { enable, disable } });
  }
}
