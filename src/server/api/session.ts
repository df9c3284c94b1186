import { ApiError } from "../../shared/api-error.js";
import type { Principals } from "../access/principals.js";
import type { ResourceHandlers } from "../http/handler.js";

interface SessionOptions {
  readonly principals: Principals;
  readonly sessionTtlSeconds: number;
  readonly now: () => number;
}

/** Creates the API handlers for sessions. `now` returns the current time in Unix seconds. */
export function createSessionHandlers({ principals, sessionTtlSeconds, now }: SessionOptions): ResourceHandlers<"session"> {
  return {
    show: ({ principal }) => ({ authenticated: true, principal }),
    create: ({ body }) => {
      const principal = principals.principalOf(body.key);
      if (!principal) throw new ApiError("INVALID_KEY", "Sign-in failed, because the key is unknown, revoked or expired.");
      return { authenticated: true, principal, endsAt: Math.min(now() + sessionTtlSeconds, principal.expiresAt ?? Infinity) };
    },
    remove: () => {},
  };
}
