import { createClient, type ClientOf, type Operations, type Transport } from "../../shared/client.js";
import type { Discovery } from "../../shared/contract/discovery.js";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { refuseReadOnly } from "../config/refuse-read-only.js";
import { rejectedKey } from "../config/rejected-key.js";
import { resolveSettings, type Settings } from "../config/settings.js";
import type { HttpResponse } from "./http-client.js";
import { HttpTransport } from "./http-transport.js";

const readingMethods: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
/** A path below the origin: no `//host`, no URL, no climbing. A discovery document must not lead a key elsewhere. */
const apiBasePattern = /^(?:\/[A-Za-z0-9_~-][A-Za-z0-9._~-]*)+$/;

export interface Connection<Offered extends Operations> {
  readonly settings: Settings;
  readonly origin: string;
  /** What the daemon says about itself; asked once. */
  readonly discover: () => Promise<Discovery>;
  /** The typed API, signed in when there is a key. */
  readonly client: ClientOf<Offered>;
  /** Any call, signed in. The path starts at the origin. */
  readonly call: (request: Parameters<Transport>[0]) => Promise<HttpResponse>;
}

/**
 * Finds the daemon's API and prepares signed-in calls of the operations given. The key is not sent before the address has proved to be
 * a runtimed: now, or for operations that only read when the profile signed in there.
 */
export async function connect<Offered extends Operations>(context: Context, offered: Offered): Promise<Connection<Offered>> {
  const connection = await connectAnonymously(context, offered);
  if (connection.settings.key === undefined) throw notSignedIn(connection.settings);
  return connection;
}

/** Like `connect`, but goes without a key when there is none. */
export async function connectAnonymously<Offered extends Operations>(
  context: Context,
  offered: Offered,
  known?: Settings,
): Promise<Connection<Offered>> {
  const settings = known ?? (await resolveSettings(context));
  const origin = settings.origin.value;
  if (settings.key) context.output.redact(settings.key.value);
  if (settings.insecure) context.output.warn(`--insecure: the certificate of ${origin} is not checked; anyone in between can read the key`);
  const transport = new HttpTransport({
    origin,
    settings,
    signal: context.signal,
    trace: (line, level) => context.output.trace(line, level),
  });
  let discovery: Promise<Discovery> | undefined;
  const discover = () => (discovery ??= discoverAt(origin, transport));
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
  const { apiBase } = settings;
  try {
    const client =
      apiBase !== undefined && apiBasePattern.test(apiBase) && onlyReads(offered)
        ? createClient(readingBelow(apiBase, callTyped, discover), "", offered)
        : createClient(callTyped, (await discover()).api, offered);
    context.onExit(() => transport.close());
    return { settings, origin, discover, call, client };
  } catch (error) {
    // The dashboard tries again every few seconds: a connection that failed must not stay until it closes.
    transport.close();
    throw error;
  }
}

async function discoverAt(origin: string, transport: HttpTransport): Promise<Discovery> {
  const { runtime } = await import("../../shared/contract/discovery.js");
  const anonymous = createClient((request) => transport.send(request, undefined), "", { discovery: { runtime } });
  const discovery = await anonymous.discovery.runtime();
  if (apiBasePattern.test(discovery.api)) return discovery;
  throw new CommandError("DISCOVERY_REFUSED", `${origin} says that its API is at ${JSON.stringify(discovery.api)}, which is not a path`, {
    exitCode: exitCodes.failed,
  });
}

function onlyReads(offered: Operations): boolean {
  return Object.values(offered).every((operations) => Object.values(operations).every(({ method }) => method === "GET"));
}

/** Saves reads the discovery: they go below the base of sign-in, and once more when an answer shows that the API is not there any more. */
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
  return new CommandError("READ_ONLY", `nothing is changed in read-only mode: ${method} is not sent`, {
    exitCode: exitCodes.forbidden,
    hint: "start the dashboard without --readonly",
  });
}

function notSignedIn(settings: Settings): CommandError {
  const message = settings.keyWithheld ?? `no key for ${settings.origin.value}`;
  return new CommandError("NOT_SIGNED_IN", message, {
    exitCode: exitCodes.notAuthenticated,
    hint: `runtimectl auth login${settings.origin.source === "default" ? "" : ` --url ${settings.origin.value}`}, or set RUNTIMECTL_KEY_FILE`,
  });
}
