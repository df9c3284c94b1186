import { ApiError } from "../../../shared/api-error.js";
import { disable, enable } from "../../../shared/contract/worker-changes.js";
import { toPathSegments } from "../../../shared/package-name.js";
import type { Context } from "../../command/command.js";
import { connect, type Connection } from "../../client/connection.js";

type Switching = Connection<{ workers: { enable: typeof enable; disable: typeof disable } }>;
type Verb = "enable" | "disable";

const opposite = { enable: "disable", disable: "enable" } as const;

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
