import { expiryNoticeDays } from "./incidents.js";
import type { ApiKey } from "./contract/keys.js";

const soonSeconds = expiryNoticeDays * 86_400;

export const keyStates = ["active", "expires soon", "expired"] as const;
export type KeyState = (typeof keyStates)[number];

/** Returns whether a key is active, expires within 14 days, or has expired. `nowSeconds` is Unix time. */
export function keyState({ expiresAt }: Pick<ApiKey, "expiresAt">, nowSeconds: number): KeyState {
  if (expiresAt === undefined) return "active";
  if (expiresAt <= nowSeconds) return "expired";
  return expiresAt - nowSeconds < soonSeconds ? "expires soon" : "active";
}
