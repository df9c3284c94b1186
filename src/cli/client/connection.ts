import { createClient, type ClientOf, type Operations, type Transport } from "../../shared/client.js";
import type { Discovery } from "../../shared/contract/discovery.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { refuseReadOnly } from "../config/refuse-read-only.js";
import { rejectedKey } from "../config/rejected-key.js";
import { signInCommand } from "../config/sign-in-command.js";
import { resolveSettings, type Settings } from "../config/settings.js";
import type { HttpResponse } from "./http-client.js";
import { HttpTransport } from "./http-transport.js";

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/**
 * Matches an API path in a discovery document. Other forms, such as `//host`, a URL or a path with `..`, are rejected, because they could
 * lead to another host, which would receive the key.
 */
const apiBasePattern = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

export interface Connection<Offered extends Operations> {
  readonly settings: Settings;
  readonly origin: string;
  /** Returns the discovery document of the daemon. After a successful request, later calls return the same document. */
  readonly discover: () => Promise<Discovery>;
  /** The typed API client. If a key is configured, each request contains the key. */
  readonly client: ClientOf<Offered>;
  /** Sends any request, with the key if one is configured. The path is relative to the origin. */
  readonly call: (request: Parameters<Transport>[0]) => Promise<HttpResponse>;
}

/**
 * Connects to the daemon's API for the given operations. Sends the key only to an origin with a valid discovery document. Read-only
 * operations use the API path stored at sign-in. Throws NOT_SIGNED_IN if no key is configured.
 */
export async function connect<Offered extends Operations>(context: Context, offered: Offered): Promise<Connection<Offered>> {
  const connection = await connectAnonymously(context, offered);
  if (connection.settings.key === undefined) throw notSignedIn(connection.settings);
  return connection;
}

/** Connects to the daemon's API like `connect`, but also without a configured key. */
export async function connectAnonymously<Offered extends Operations>(
  context: Context,
  offered: Offered,
  known?: Settings,
): Promise<Connection<Offered>> {
  const { close, callTyped, ...link } = openLink(context, known ?? (await resolveSettings(context)));
  const { apiBase } = link.settings;
  try {
    const client =
      apiBase !== undefined && apiBasePattern.test(apiBase) && onlyReads(offered)
        ? createClient(readingBelow(apiBase, callTyped, link.discover), "", offered)
        : createClient(callTyped, (await link.discover()).api, offered);
    context.onExit(close);
    return { ...link, client };
  } catch (error) {
    // Closes the sockets of a failed attempt. Otherwise open sockets would accumulate, because the dashboard repeats the attempt every few
    // seconds.
    close();
    throw error;
  }
}

/**
 * Connects like `connectAnonymously`, but requests the discovery document only before the first call. The daemon can therefore be
 * unreachable until then.
 */
export async function connectOnDemand<Offered extends Operations>(context: Context, offered: Offered): Promise<Connection<Offered>> {
  const { close, callTyped, ...link } = openLink(context, await resolveSettings(context));
  context.onExit(close);
  const transport: Transport = async (request) => callTyped({ ...request, path: (await link.discover()).api + request.path });
  return { ...link, client: createClient(transport, "", offered) };
}

interface Link extends Omit<Connection<Operations>, "client"> {
  /** Sends a request of the typed client. Throws if the daemon rejects the key. */
  readonly callTyped: Connection<Operations>["call"];
  readonly close: () => void;
}

/** Prepares a connection without sending a request. */
function openLink(context: Context, settings: Settings): Link {
  const origin = settings.origin.value;
  if (settings.key) context.output.redact(settings.key.value);
  if (settings.insecure)
    context.output.warn(`--insecure: the certificate of ${origin} is not verified; an attacker on the network can read the key`);
  const transport = new HttpTransport({
    origin,
    settings,
    signal: context.signal,
    trace: (line, level) => context.output.trace(line, level),
  });
  let discovery: Promise<Discovery> | undefined;
  const discover = () =>
    (discovery ??= discoverAt(origin, transport).catch((error: unknown) => {
      discovery = undefined;
      throw error;
    }));
  const call = async (request: Parameters<Transport>[0]) => {
    if (!readingMethods.has(request.method)) {
      if (context.isReadOnly) throw readOnly(request.method);
      refuseReadOnly(settings);
    }
    return transport.send(request, settings.key?.value);
  };
  const callTyped = async (request: Parameters<Transport>[0]) => {
    const response = await call(request);
    const failure = rejectedKey(settings, response);
    if (failure) throw failure;
    return response;
  };
  return { settings, origin, discover, call, callTyped, close: () => transport.close() };
}

async function discoverAt(origin: string, transport: HttpTransport): Promise<Discovery> {
  const { runtime } = await import("../../shared/contract/discovery.js");
  const anonymous = createClient((request) => transport.send(request, undefined), "", { discovery: { runtime } });
  const discovery = await anonymous.discovery.runtime();
  if (apiBasePattern.test(discovery.api)) return discovery;
  throw new CommandError(
    "DISCOVERY_REFUSED",
    `the discovery document of ${origin} has an invalid API path: ${JSON.stringify(discovery.api)}`,
    {
      exitCode: exitCodes.failed,
    },
  );
}

function onlyReads(offered: Operations): boolean {
  return Object.values(offered).every((operations) => Object.values(operations).every(({ method }) => method === "GET"));
}

/**
 * Returns a transport that uses the API path stored at sign-in. If the API does not respond at this path, the transport requests the
 * discovery document and sends the request again.
 */
function readingBelow(apiBase: string, call: Transport, discover: () => Promise<Discovery>): Transport {
  return async (request) => {
    const response = await call({ ...request, path: apiBase + request.path });
    if (response.pieces || (response.status !== 404 && isJson(response.text))) return response;
    const { api } = await discover();
    return api === apiBase ? response : call({ ...request, path: api + request.path });
  };
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function readOnly(method: string): CommandError {
  return new CommandError("READ_ONLY", `the dashboard is in read-only mode, so it did not send the ${method} request`, {
    exitCode: exitCodes.forbidden,
    hint: "start the dashboard without --readonly",
  });
}

function notSignedIn(settings: Settings): CommandError {
  const message = settings.keyWithheld ?? `no key is configured for ${settings.origin.value}`;
  return new CommandError("NOT_SIGNED_IN", message, {
    exitCode: exitCodes.notAuthenticated,
    hint: `${signInCommand(settings)}, or set RUNTIMECTL_KEY_FILE`,
  });
}
