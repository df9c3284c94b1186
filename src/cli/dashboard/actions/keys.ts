import type { ApiKey } from "../../../shared/contract/keys.js";
import type { Action } from "./action.js";

export interface KeyTarget {
  readonly key: ApiKey;
  /** Whether the dashboard uses this API key for its own requests. */
  readonly isOwn: boolean;
}

export const revokeKey: Action<KeyTarget> = {
  id: "keys.revoke",
  line: ({ key }) => `runtimectl keys revoke ${key.id}`,
  permission: "keys:revoke",
  refusal: ({ key, isOwn }) => (isOwn ? `a key cannot revoke itself; to revoke ${key.name}, sign in with another key` : undefined),
  confirmation: ({ key }) => ({
    consequence: `Revoke key ${key.id} (${key.name}, ${key.role}, ${key.keyPrefix}…) permanently; requests with this key will be rejected`,
    name: key.name,
  }),
  run: async (client, { key }) => {
    await client.keys.revoke({ params: { id: String(key.id) } });
    return `key ${key.id} (${key.name}) revoked`;
  },
};
