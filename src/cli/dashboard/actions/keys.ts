import { defaultOverlap, type ApiKey } from "../../../shared/contract/keys.js";
import type { Principal } from "../../../shared/contract/principal.js";
import { endOn } from "../../output/format.js";
import { OneTimeSecret } from "../keys/one-time-secret.js";
import type { Action } from "./action.js";

export interface KeyTarget {
  readonly key: ApiKey;
  /** Whether the dashboard uses this API key for its own requests. */
  readonly isOwn: boolean;
  /** Whether screen reader mode is active. In this mode, all output stays in the terminal, so the dashboard must not show a new API key. */
  readonly isAccessible: boolean;
}

/** Returns the target for an API key of a dashboard that is signed in as `principal`. */
export function toKeyTarget(
  key: ApiKey,
  { principal, isAccessible }: { principal: Principal | undefined; isAccessible: boolean },
): KeyTarget {
  return { key, isOwn: key.id === principal?.id, isAccessible };
}

export const rotateKey: Action<KeyTarget> = {
  id: "keys.rotate",
  line: ({ key }) => `runtimectl keys rotate ${key.id}`,
  permission: ["keys:create", "keys:revoke"],
  refusal: ({ key, isOwn, isAccessible }) => {
    if (isOwn)
      return `the dashboard uses this key; to rotate ${key.name}, run runtimectl keys rotate ${key.id}, and sign in with the new key`;
    return isAccessible ? "in accessible mode a key would stay in the terminal: use runtimectl keys rotate --out FILE" : undefined;
  },
  confirmation: ({ key }) => ({
    consequence: `Replace key ${key.id} (${key.name}, ${key.role}); the old key expires in ${defaultOverlap}`,
  }),
  run: async (client, { key: old }) => {
    const { data } = await client.keys.rotate({ params: { id: String(old.id) }, body: { overlap: defaultOverlap } });
    return {
      text: `key ${old.id} (${old.name}) rotated`,
      secret: new OneTimeSecret(data.key),
      lines: [
        `key ${data.id}: ${data.name}, ${data.role}, namespaces ${data.namespaces.join(" ")}`,
        `it replaces key ${old.id}, which expires ${endOn(data.rotated.expiresAt, Date.now())}`,
      ],
    };
  },
};

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
