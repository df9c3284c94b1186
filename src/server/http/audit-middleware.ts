import type { Context, Middleware } from "koa";
import { nounOf, type ChangePrincipal, type ChangeType, type ChangeSubject } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import { isSecretName } from "../../shared/secret-name.js";
import { isNamespace, namespacesWithin } from "../../shared/namespace.js";
import { credentialsOf } from "../access/credentials.js";
import type { Principals } from "../access/principals.js";
import { toApiError } from "../web/error-response.js";
import type { ChangingCall } from "../events/changes.js";
import type { CallState } from "./error-middleware.js";
import type { PanelHost } from "../web/panel-host.js";
import { normalHostName } from "../../shared/host-name.js";
import { fromPathSegments, isPackageName, isPackageVersion } from "../../shared/package-name.js";

const longestForwardedFor = 200;
const mostPaths = 20;
const longestPath = 300;
const longestInstanceName = 64;

/** Records changes and failed attempts to change data, in the audit log and as events. */
export interface ChangesPort {
  made(call: ChangingCall): Promise<void>;
  attempted(call: ChangingCall, outcome: "refused" | "failed", code: ErrorCode): void;
}

/** Finds the API key that an operation changes. */
export interface KeysPort {
  find(id: number): NamedKey | undefined;
}

/**
 * Returns middleware for an operation that changes data. The middleware records the change before the daemon sends the response. After an
 * error, it records the failed attempt.
 */
export function recordChanges(
  type: ChangeType,
  {
    changes,
    principals,
    keys,
    config,
  }: { changes: ChangesPort; principals: Principals; keys: KeysPort; config: { readonly panelHost: PanelHost | undefined } },
): Middleware {
  return async (context, next) => {
    // Reads the API key before the operation, because a revoked key cannot be found afterwards.
    const keyId = nounOf(type) === "key" ? keyIdIn(paramsOf(context)) : undefined;
    const findKey = () => (keyId === undefined ? undefined : keys.find(keyId));
    let key = findKey();
    (context.state as CallState).onNewestChanges = () => {
      key = findKey();
    };
    try {
      await next();
    } catch (cause) {
      const { status, code } = toApiError(cause);
      const who = principals.resolve(credentialsOf(context.req.headers, config.panelHost))?.principal;
      // Omits the API key from the record if the caller is not allowed to see the key. Otherwise the record would reveal that the key
      // exists.
      const isVisible = key && who && namespacesWithin(key.namespaces, who.namespaces);
      changes.attempted(
        describe(type, context, { who, key: isVisible ? key : undefined }),
        status === 401 || status === 403 ? "refused" : "failed",
        code,
      );
      throw cause;
    }
    const { principal, result } = context.state as CallState;
    // A request to sign in has no principal, so the principal is part of the operation's result.
    const who = principal ?? (result as { principal?: ChangePrincipal } | undefined)?.principal;
    await changes.made(describe(type, context, { who, key }));
  };
}

function paramsOf(context: Context): Record<string, string> {
  return ((context as { params?: unknown }).params ?? {}) as Record<string, string>;
}

function describe(
  type: ChangeType,
  context: Context,
  { who, key }: { who: ChangePrincipal | undefined; key: NamedKey | undefined },
): ChangingCall {
  const { requestId, input, result } = context.state as CallState;
  const forwardedFor = context.get("X-Forwarded-For");
  return {
    type,
    principal: who && { id: who.id, name: who.name, keyPrefix: who.keyPrefix },
    subject: changeSubjectOf(type, paramsOf(context), { input, result, key }),
    requestId,
    clientAddress: context.req.socket.remoteAddress?.replace(/^::ffff:/, "") ?? "local",
    forwardedFor: forwardedFor === "" ? undefined : lastAddressesOf(forwardedFor),
  };
}

/**
 * Returns the last complete addresses of X-Forwarded-For, which the nearest proxies added. A client can send any number of addresses, which
 * precede those of the proxies and must not displace them.
 */
function lastAddressesOf(forwardedFor: string): string {
  const entries = forwardedFor.split(",").map((entry) => entry.trim());
  let text = entries.pop()?.slice(0, longestForwardedFor) ?? "";
  for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
    if (entry.length + ", ".length + text.length > longestForwardedFor) break;
    text = `${entry}, ${text}`;
  }
  return text;
}

/** The API key whose id is in the request path, with the values of its fields before the operation. */
interface NamedKey {
  readonly name: string;
  readonly namespaces: readonly string[];
}

/**
 * Returns the subject of a change, such as the worker. Reads the fields from the result if possible, otherwise from the path or the input
 * of the request. Omits invalid values.
 */
function changeSubjectOf(
  type: ChangeType,
  params: Readonly<Record<string, string>>,
  { input, result, key }: { readonly input?: unknown; readonly result?: unknown; readonly key?: NamedKey | undefined },
): ChangeSubject {
  const noun = nounOf(type);
  // Excludes a change of the configuration, which has the same type. The path of its request contains the package name, and its input
  // contains no list of files.
  if ((type === "worker.files-changed" || type === "plugin.files-changed") && params["name"] === undefined) return fileSubject(input);
  if (noun === "secret") return secretSubject(params);
  if (noun === "host") return hostSubject(params, { input, result });
  if (noun === "session") return sessionSubject(result);
  if (noun === "instance") return instanceSubject(params, result);
  if (noun === "key") return keySubject(params, result, key);
  const { worker, plugin } = dataOf(result) as { worker?: ChangeSubject; plugin?: ChangeSubject };
  const made = worker ?? plugin;
  if (made?.name !== undefined && made.version !== undefined) return { name: made.name, version: made.version };
  if (type === "worker.isolate-stopped") return isolateSubject(params, result);
  const { scope, name = "", version = "", index } = params;
  const fullName = scope === undefined ? name : fromPathSegments({ scope, name });
  return {
    ...(isPackageName(fullName) && { name: fullName }),
    ...(isPackageVersion(version) && { version }),
    ...(type === "worker.cron-run" && /^\d{1,6}$/.test(index ?? "") && { cronIndex: Number(index) }),
  };
}

/**
 * Returns the paths of a file change and the name of the changed package. In a path, the package name `[@scope/]name` follows the first
 * segment, which is the mount.
 */
function fileSubject(input: unknown): ChangeSubject {
  const { path, paths = [], destPath } = (input ?? {}) as { path?: string; paths?: readonly string[]; destPath?: string };
  const all = [...(path === undefined ? paths : [path]), ...(destPath === undefined ? [] : [destPath])];
  const segments = (all[0] ?? "").split("/").slice(1);
  const nameSegments = segments[0]?.startsWith("@") ? 2 : 1;
  const name = segments.slice(0, nameSegments).join("/");
  return {
    ...(isPackageName(name) && { name }),
    ...(all.length > 0 && { paths: all.slice(0, mostPaths).map((one) => one.slice(0, longestPath)) }),
  };
}

function hostSubject({ host }: Readonly<Record<string, string>>, { input, result }: { input?: unknown; result?: unknown }): ChangeSubject {
  const made = dataOf(result) as { host?: string; worker?: string };
  const asked = (input ?? {}) as { worker?: string };
  const name = made.worker ?? asked.worker;
  const hostName = made.host ?? normalHostName(host ?? "");
  return { ...(name !== undefined && isPackageName(name) && { name }), ...(hostName !== undefined && { host: hostName }) };
}

/**
 * Returns the subject of a change to a secret. Does not use the input of the request, because the input contains the value of the secret.
 */
function secretSubject({ scope, name, namespace, key }: Readonly<Record<string, string>>): ChangeSubject {
  const worker = scope === undefined || name === undefined ? undefined : fromPathSegments({ scope, name });
  return {
    ...(worker !== undefined && isPackageName(worker) && { name: worker }),
    ...(namespace !== undefined && isNamespace(namespace) && { namespaces: [namespace] }),
    ...(key !== undefined && isSecretName(key) && { secret: key }),
  };
}

/** Returns the subject of a stopped isolate. If the result names no worker, the subject contains only the process id. */
function isolateSubject({ pid = "" }: Readonly<Record<string, string>>, result: unknown): ChangeSubject {
  const { worker, version } = dataOf(result) as { worker?: string; version?: string };
  return {
    ...(worker !== undefined && { name: worker }),
    ...(version !== undefined && { version }),
    ...(/^[1-9]\d{0,9}$/.test(pid) && { pid: Number(pid) }),
  };
}

/**
 * Returns the daemon that a call concerns. If the result contains no name, for example after a rejected call, returns the beginning of the
 * id or text in the request path.
 */
function instanceSubject({ instance = "" }: Readonly<Record<string, string>>, result: unknown): ChangeSubject {
  const { name = instance.slice(0, longestInstanceName) } = dataOf(result) as { name?: string };
  return { name };
}

function sessionSubject(result: unknown): ChangeSubject {
  const { principal } = (result ?? {}) as { principal?: NamedKey };
  return principal ? { namespaces: [...principal.namespaces] } : {};
}

/** Returns the id of the API key in the request path. Returns undefined for an invalid id. */
function keyIdIn(params: Readonly<Record<string, string>>): number | undefined {
  return /^[1-9]\d{0,14}$/.test(params["id"] ?? "") ? Number(params["id"]) : undefined;
}

function keySubject(params: Readonly<Record<string, string>>, result: unknown, key: NamedKey | undefined): ChangeSubject {
  const made = dataOf(result) as Partial<NamedKey> & { id?: number };
  const { id: madeId, name = key?.name, namespaces = key?.namespaces } = made;
  const givenId = keyIdIn(params);
  const id = givenId ?? madeId;
  return {
    ...(name !== undefined && { name }),
    ...(id !== undefined && { id }),
    ...(namespaces !== undefined && { namespaces: [...namespaces] }),
    ...(givenId !== undefined && madeId !== undefined && { replacedBy: madeId }),
  };
}

function dataOf(result: unknown): object {
  return (result as { data?: object } | undefined)?.data ?? {};
}
