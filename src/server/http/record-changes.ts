import type { Context, Middleware } from "koa";
import { nounOf, type ChangePrincipal, type ChangeType } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import { namespacesWithin } from "../../shared/namespace.js";
import { credentialsOf } from "../access/credentials.js";
import type { Principals } from "../access/principals.js";
import { toApiError } from "../web/error-response.js";
import type { ChangingCall } from "../events/changes.js";
import type { CallState } from "./error-middleware.js";
import { changeSubjectOf, keyIdIn, type NamedKey } from "./change-subject.js";
import type { PanelHost } from "../web/panel-host.js";

/** Where changes are told of, and attempts at them. */
export interface ChangesPort {
  made(call: ChangingCall): Promise<void>;
  attempted(call: ChangingCall, outcome: "refused" | "failed", code: ErrorCode): void;
}

const longestForwardedFor = 200;

/** Where a key is looked up before a call changes it. */
export interface KeysPort {
  find(id: number): NamedKey | undefined;
}

/** Around an operation that changes something: its caller is answered when the change is written down, or told why there is none. */
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
    // A revoked key is not found any more.
    const keyId = nounOf(type) === "key" ? keyIdIn(paramsOf(context)) : undefined;
    const key = keyId === undefined ? undefined : keys.find(keyId);
    try {
      await next();
    } catch (cause) {
      const { status, code } = toApiError(cause);
      const who = principals.resolve(credentialsOf(context.req.headers, config.panelHost))?.principal;
      // Who may not see a key does not learn of it by an attempt at it.
      const isVisible = key && who && namespacesWithin(key.namespaces, who.namespaces);
      changes.attempted(
        describe(type, context, { who, key: isVisible ? key : undefined }),
        status === 401 || status === 403 ? "refused" : "failed",
        code,
      );
      throw cause;
    }
    const { principal, result } = context.state as CallState;
    // Who signs in is known by the result only.
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

/** Whole entries of the end, where the nearest proxy put its word: what a client claims stands before and must not push that out. */
function lastAddressesOf(forwardedFor: string): string {
  const entries = forwardedFor.split(",").map((entry) => entry.trim());
  let text = entries.pop()?.slice(0, longestForwardedFor) ?? "";
  for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
    if (entry.length + ", ".length + text.length > longestForwardedFor) break;
    text = `${entry}, ${text}`;
  }
  return text;
}
