import type { Client } from "../../../shared/client.js";
import type { Context } from "../../command/command.js";
import type { connect, Connection } from "../../client/connection.js";
import { resolveSettings, type Settings } from "../../config/settings.js";
import type { Contract } from "../../../shared/contract/index.js";
import { EventSubscription, fedNames } from "../queries/event-subscription.js";
import { QueryClient } from "../queries/query-client.js";
import type { QueryState } from "../queries/query-state.js";
import { CommandError } from "../../command/command-error.js";

/** A connection to one daemon with one API key, with the typed client and its queries. */
export class Session {
  /** Unique id of the session. */
  readonly id = crypto.randomUUID();
  readonly settings: Settings;
  readonly live: QueryClient;
  /** The context for commands, with the profile of this session. */
  readonly context: Context;
  /** Opens a separate connection. The signal of the given context aborts the requests of this connection. */
  readonly connect: typeof connect;
  /** The event stream of the daemon. */
  readonly events: EventSubscription;
  #connection: Promise<Connection<Contract>> | undefined;

  private constructor(context: Context, settings: Settings, options: SessionOptions) {
    this.context = context;
    this.settings = settings;
    this.connect = options.connect;
    this.live = new QueryClient({ ...options, fedNames });
    this.events = new EventSubscription(this.live);
  }

  /** Creates a session with the origin and the API key of the settings. Sends no request. */
  static async open(context: Context, options: SessionOptions): Promise<Session> {
    return new Session(context, await resolveSettings(context), options);
  }

  /** Returns the typed client. The first call connects to the daemon. If connecting fails, the next call tries again. */
  async client(): Promise<Client> {
    this.#connection ??= import("../../../shared/contract/index.js").then(({ contract }) => this.connect(this.context, contract));
    try {
      return (await this.#connection).client;
    } catch (error) {
      this.#connection = undefined;
      throw error;
    }
  }

  /** Returns the query with this name, and creates it on first use. */
  resource<Value>(name: string, ask: (client: Client) => Promise<Value>): QueryState<Value> {
    return this.live.resource(name, async () => {
      const client = await this.client();
      const value = await ask(client);
      // Subscribes to events after the first response, so that the event stream does not delay the first screen.
      this.events.start(client);
      return value;
    });
  }

  close(): void {
    this.events.close();
    this.live.close();
  }
}

interface SessionOptions {
  readonly refreshMs: number;
  readonly connect: typeof connect;
  /** Called for every error of a query, unless the daemon is unreachable. */
  readonly onRefused: (error: Error) => void;
}

/** Returns the message of an error, followed by its hint if any. */
export function reasonOf(error: unknown): string {
  if (error instanceof CommandError && error.hint !== undefined) return `${error.message}; ${error.hint}`;
  return error instanceof Error ? error.message : String(error);
}
