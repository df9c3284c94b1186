import type { Context, Middleware } from "koa";
import type { ChangePrincipal, ChangeType } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import { credentialsOf } from "../access/credentials.js";
import type { Principals } from "../access/principals.js";
import { toApiError } from "../answer-error.js";
import type { ChangingCall } from "../audit/changes.js";
import type { CallState } from "./answer-every-request.js";
import { changeSubjectOf } from "./change-subject.js";

/** Where changes are told of, and attempts at them. */
export interface ChangesPort {
  made(call: ChangingCall): Promise<void>;
  attempted(call: ChangingCall, outcome: "refused" | "failed", code: ErrorCode): void;
}

const longestForwardedFor = 200;

/** Around an operation that changes something: its caller is answered when the change is written down, or told why there is none. */
export function recordChanges(type: ChangeType, { changes, principals }: { changes: ChangesPort; principals: Principals }): Middleware {
  return async (context, next) => {
    try {
      await next();
    } catch (cause) {
      const { status, code } = toApiError(cause);
      const who = principals.resolve(credentialsOf(context.req.headers))?.principal;
      changes.attempted(describe(type, context, who), status === 401 || status === 403 ? "refused" : "failed", code);
      throw cause;
    }
    const { principal, result } = context.state as CallState;
    // Who signs in is known by the result only.
    await changes.made(describe(type, context, principal ?? (result as { principal?: ChangePrincipal } | undefined)?.principal));
  };
}

function describe(type: ChangeType, context: Context, who: ChangePrincipal | undefined): ChangingCall {
  const { requestId, input, result } = context.state as CallState;
  const params = ((context as { params?: unknown }).params ?? {}) as Record<string, string>;
  const forwardedFor = context.get("X-Forwarded-For");
  return {
    type,
    principal: who && { id: who.id, name: who.name, keyPrefix: who.keyPrefix },
    subject: changeSubjectOf(type, params, { input, result }),
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
