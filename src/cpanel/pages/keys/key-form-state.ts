import type { Principal } from "../../../shared/contract/principal.js";
import { parseLifetimeSeconds } from "../../../shared/duration.js";
import { isNamespace } from "../../../shared/namespace.js";
import type { Permission, Role } from "../../../shared/permissions.js";

/** Values of the form for a new key. */
export interface KeyFormState {
  readonly name: string;
  readonly role: Role;
  readonly permissions: readonly Permission[];
  /** Names of namespaces, separated by spaces or commas. */
  readonly namespaces: string;
  /** Lifetime of the new key: `never`, or a duration such as `90d`. */
  readonly expiresIn: string;
}

export const otherLifetime = "other";

/** Returns one message for each invalid field of the form. Empty if the form can be sent. */
export function problemsOf(draft: KeyFormState): Partial<Record<keyof KeyFormState, string>> {
  const namespaces = namespacesOf(draft);
  const wrong = namespaces.find((namespace) => !isNamespace(namespace));
  return {
    ...(draft.name.trim() === "" ? { name: "Enter a name that tells who uses the key." } : {}),
    ...(draft.role === "custom" && draft.permissions.length === 0 ? { permissions: "Choose at least one permission." } : {}),
    ...(namespaces.length === 0 ? { namespaces: "Enter at least one namespace, or * for all." } : {}),
    ...(wrong === undefined ? {} : { namespaces: `${wrong} is no namespace: it takes * or names such as @team.` }),
    ...(endOf(draft, 0) === "malformed" ? { expiresIn: "Enter a whole number with min, h, d, w, m (30 days) or y, such as 45d." } : {}),
  };
}

export function namespacesOf({ namespaces }: Pick<KeyFormState, "namespaces">): string[] {
  return namespaces.split(/[\s,]+/).filter((entry) => entry !== "");
}

/**
 * Returns when a key created now would expire, in Unix seconds. Undefined if the key never expires; `malformed` for an invalid lifetime.
 */
export function endOf({ expiresIn }: Pick<KeyFormState, "expiresIn">, nowSeconds: number): number | "malformed" | undefined {
  if (expiresIn === "never") return undefined;
  const seconds = parseLifetimeSeconds(expiresIn.trim());
  return seconds === undefined ? "malformed" : Math.floor(nowSeconds) + seconds;
}

/** Whether the principal has all the permissions, and is therefore allowed to grant them to a new key. */
export function mayGrant(principal: Principal, permissions: readonly Permission[]): boolean {
  return permissions.every((permission) => principal.permissions.includes(permission));
}
