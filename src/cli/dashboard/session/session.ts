import type { Client } from "../../../shared/client.js";
import type { Context } from "../../command/command.js";
import type { connect, Connection } from "../../client/connection.js";
import { resolveSettings, type Settings } from "../../config/settings.js";
import type { Contract } from "../../../shared/contract/index.js";
import { EventSubscription, fedNames } from "../queries/event-subscription.js";
import { QueryClient } from "../queries/query-client.js";
import type { QueryState } from "../queries/query-state.js";
import { CommandError } from "../../command/command-error.js";

/** One daemon under one key: the typed client, and what is known of the daemon. */
export class Session {
  /** Tells sessions apart. */
  readonly id = crypto.randomUUID();
  readonly settings: Settings;
  readonly live: QueryClient;
  /** The command line's own context, of the profile of this session. */
  readonly context: Context;
  /** Opens a connection of its own, for calls that end with the signal of `context`. */
  readonly connect: typeof connect;
  readonly #changes: EventSubscription;
  #connection: Promise<Connection<Contract>> | undefined;

  private constructor(context: Context, settings: Settings, options: SessionOptions) {
    this.context = context;
    this.settings = settings;
    this.connect = options.connect;
    this.live = new QueryClient({ ...options, fedNames });
    this.#changes = new EventSubscription(this.live);
  }

  /** Decides where to go and with which key. Asks nobody yet. */
  static async open(context: Context, options: SessionOptions): Promise<Session> {
    return new Session(context, await resolveSettings(context), options);
  }

  /** The typed client. The daemon is looked for with the first call; when it is not there, with the next one again. */
  async client(): Promise<Client> {
    this.#connection ??= import("../../../shared/contract/index.js").then(({ contract }) => this.connect(this.context, contract));
    try {
      return (await this.#connection).client;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  /** What the daemon says under this name, asked for again and again while it is on the screen. */
  resource<Value>(name: string, ask: (client: Client) => Promise<Value>): QueryState<Value> {
    return this.live.resource(name, async () => {
      const client = await this.client();
      const value = await ask(client);
      // The first answers come before all else.
      this.#changes.start(client);
      return value;
    });
  }

  close(): void {
    this.#changes.close();
    this.live.close();
  }
}

interface SessionOptions {
  readonly refreshMs: number;
  readonly connect: typeof connect;
  /** Hears of failures that are not the daemon's absence. */
  readonly onRefused: (error: Error) => void;
}

/** Why something failed, with what to do next where that is known. */
export function reasonOf(error: unknown): string {
  if (error instanceof CommandError && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
