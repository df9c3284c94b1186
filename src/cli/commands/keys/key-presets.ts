import type { Permission, Role } from "../../../shared/permissions.js";

interface KeyPreset {
  /** For whom, in a few words. */
  readonly meaning: string;
  readonly role: Role;
  /** With the role custom. */
  readonly permissions?: readonly Permission[];
  /** It must be said for which packages it is. */
  readonly needsNamespace?: boolean;
}

/** Keys that people need again and again, each with as little as will do. */
export const keyPresets = {
  ci: {
    meaning: "a pipeline that uploads workers of one namespace",
    role: "custom",
    permissions: ["workers:read", "workers:install"],
    needsNamespace: true,
  },
  viewer: { meaning: "somebody who only looks", role: "viewer" },
  ops: {
    meaning: "somebody on call: looks, restarts, switches and rolls back workers; deletes nothing, makes no keys",
    role: "custom",
    permissions: ["workers:read", "workers:install", "workers:restart", "plugins:read", "keys:read"],
  },
} as const satisfies Record<string, KeyPreset>;

export type KeyPresetName = keyof typeof keyPresets;

export function presetOf(name: KeyPresetName): KeyPreset {
  return keyPresets[name];
}
