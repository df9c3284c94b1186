import { ApiError } from "../../shared/api-error.js";
import type { Principals } from "../access/principals.js";
import type { ResourceHandlers } from "../http/handler.js";

export function createSessionHandlers(principals: Principals): ResourceHandlers<"session"> {
  return {
    show: ({ principal }) => ({ authenticated: true, principal }),
    create: ({ body }) => {
      const principal = principals.principalOf(body.key);
      if (!principal) throw new ApiError("INVALID_KEY", "The key is not known, was revoked, or has expired.");
      return { authenticated: true, principal };
    },
    remove: () => {},
  };
}
