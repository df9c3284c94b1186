import { expiryNoticeDays } from "../../../shared/incidents.js";
import type { ApiKey } from "../../../shared/contract/keys.js";

const soonSeconds = expiryNoticeDays * 86_400;

export const keyStates = ["active", "ends soon", "ended"] as const;
export type KeyState = (typeof keyStates)[number];

/** Returns whether a key is active, expires within 14 days, or has expired. `nowSeconds` is Unix time. */
export function keyState({ expiresAt }: Pick<ApiKey, "expiresAt">, nowSeconds: number): KeyState {
  if (expiresAt === undefined) return "active";
  if (expiresAt <= nowSeconds) return "ended";
  return expiresAt - nowSeconds < soonSeconds ? "ends soon" : "active";
}
