import type { ApiKey } from "../../../shared/contract/keys.js";
import type { Action } from "./action.js";

export interface KeyTarget {
  readonly key: ApiKey;
  /** The dashboard itself is signed in with it. */
  readonly isOwn: boolean;
}

export const revokeKey: Action<KeyTarget> = {
  id: "keys.revoke",
  line: ({ key }) => `runtimectl keys revoke ${key.id}`,
  permission: "keys:revoke",
  refusal: ({ key, isOwn }) => (isOwn ? `a key cannot revoke itself; sign in with another one to revoke ${key.name}` : undefined),
  confirmation: ({ key }) => ({
    consequence: `Revoke key ${key.id} (${key.name}, ${key.role}, ${key.keyPrefix}…) permanently: who uses it is refused from then on`,
    name: key.name,
  }),
  run: async (client, { key }) => {
    await client.keys.revoke({ params: { id: String(key.id) } });
    return `key ${key.id} (${key.name}) is revoked`;
  },
};
