import { timingSafeEqual } from "node:crypto";
import type { Principal } from "../../shared/contract/principal.js";
import { permissions, rolePermissions, type Permission } from "../../shared/permissions.js";
import { hashKeySecret, keyPrefixLiteral, type Credential, type CredentialChannel } from "./credentials.js";
import type { KeyStore, StoredKey } from "./key-store.js";
import { ApiError } from "../../shared/api-error.js";
import { namespacesWithin } from "../../shared/namespace.js";

/** Principal of a caller with the root key. */
export const rootPrincipal: Principal = {
  id: 0,
  name: "root",
  keyPrefix: "root",
  role: "admin",
  permissions: [...permissions],
  namespaces: ["*"],
  isRoot: true,
};

/** The principal of a request, its key, and the part of the request that contained the key: header or cookie. */
interface Caller {
  readonly principal: Principal;
  readonly secret: string;
  readonly channel: CredentialChannel;
}

/** Finds the principal for the credentials of a request. */
export class Principals {
  readonly #store: KeyStore;
  /** SHA-256 hash of the root key as the bytes of its hex text, for a comparison in constant time. */
  #rootKeyHash: Buffer | undefined;
  /** Buffer for the hash of a received secret. All comparisons with the root key use this buffer. */
  readonly #compared = Buffer.alloc(hashKeySecret("").length);
  readonly #now: () => number;

  /** `now` returns the current time in Unix seconds. */
  constructor(options: { store: KeyStore; rootKey: string | undefined; now: () => number }) {
    this.#store = options.store;
    this.#rootKeyHash = bytesOfHash(options.rootKey);
    this.#now = options.now;
  }

  /** Replaces the root key. Returns whether the new key differs from the previous one. */
  replaceRootKey(rootKey: string): boolean {
    if (this.#isRootHash(hashKeySecret(rootKey))) return false;
    this.#rootKeyHash = bytesOfHash(rootKey);
    return true;
  }

  /**
   * Returns the caller with the first valid credential. Returns "ambiguous" if no header has a valid key and the session cookies have
   * different valid keys, because an attacker can have set one of these cookies.
   */
  identify(credentials: readonly Credential[]): Caller | "ambiguous" | undefined {
    const [first, second] = credentials.flatMap(({ secret, channel }) => {
      const key = this.#find(secret);
      return key ? [{ key, secret, channel }] : [];
    });
    if (!first) return undefined;
    if (first.channel === "cookie" && second) return "ambiguous";
    return { principal: this.#use(first.key), secret: first.secret, channel: first.channel };
  }

  /** Returns the same caller as `identify`, but returns undefined if the session cookies are ambiguous. */
  resolve(credentials: readonly Credential[]): Caller | undefined {
    const caller = this.identify(credentials);
    return caller === "ambiguous" ? undefined : caller;
  }

  /** Returns the principal for a key, and records the use of the key. Compares the secret with the root key first. */
  principalOf(secret: string): Principal | undefined {
    const key = this.#find(secret);
    return key && this.#use(key);
  }

  #use(key: StoredKey | "root"): Principal {
    if (key === "root") return rootPrincipal;
    this.#store.markUsed(key.id, this.#now());
    return toPrincipal(key);
  }

  #find(secret: string): StoredKey | "root" | undefined {
    const hash = hashKeySecret(secret);
    if (this.#isRootHash(hash)) return "root";
    const key = this.#store.findByHash(hash);
    return key?.expiresAt !== undefined && this.#now() >= key.expiresAt ? undefined : key;
  }

  /**
   * Returns whether a token is the root key or begins with the prefix of API keys. The daemon removes these tokens from the requests to
   * workers.
   */
  isOurKey(token: string): boolean {
    return token.startsWith(keyPrefixLiteral) || this.#isRootHash(hashKeySecret(token));
  }

  #isRootHash(hash: string): boolean {
    if (this.#rootKeyHash === undefined) return false;
    this.#compared.write(hash, "latin1");
    return timingSafeEqual(this.#compared, this.#rootKeyHash);
  }
}

function bytesOfHash(rootKey: string | undefined): Buffer | undefined {
  return rootKey === undefined ? undefined : Buffer.from(hashKeySecret(rootKey), "latin1");
}

/** Returns the fields of a stored key that the holder of the key is allowed to see. */
export function toPrincipal(key: StoredKey): Omit<Principal, "isRoot"> {
  return {
    id: key.id,
    name: key.name,
    keyPrefix: key.keyPrefix,
    role: key.role,
    permissions: [...effectivePermissions(key)],
    namespaces: [...key.namespaces],
    ...(key.expiresAt === undefined ? {} : { expiresAt: key.expiresAt }),
  };
}

/**
 * Returns the permissions that the key's role has in this version of the daemon. For a `custom` key, returns the permissions that are
 * stored with the key.
 */
export function effectivePermissions(key: Pick<StoredKey, "role" | "permissions">): readonly StoredKey["permissions"][number][] {
  return key.role === "custom" ? key.permissions : rolePermissions[key.role];
}

/** Permissions, namespaces and expiry that a caller wants to give to a key. */
interface Grant {
  readonly permissions: readonly Permission[];
  readonly namespaces: readonly string[];
  /** Expiry in Unix seconds; undefined for a key that never expires. */
  readonly expiresAt: number | undefined;
}

/**
 * Throws PERMISSION_ESCALATION (403) if the grant contains a permission or namespace that the principal lacks, or a later expiry than the
 * principal's.
 */
export function assertMayGrant(principal: Principal, grant: Grant): void {
  const missing = missingPermissions(principal, grant);
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot grant permissions that it does not have itself: ${missing.join(", ")}. Choose fewer permissions, or use a key that has these permissions.`,
    );
  if (!namespacesWithin(grant.namespaces, principal.namespaces)) {
    const foreign = grant.namespaces.filter((namespace) => !principal.namespaces.includes(namespace));
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key can grant only its own namespaces (${principal.namespaces.join(", ")}). It cannot grant ${foreign.join(", ")}.`,
    );
  }
  if (principal.expiresAt !== undefined && (grant.expiresAt ?? Infinity) > principal.expiresAt)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `The new key would expire later than the key that creates it, which expires at ${new Date(principal.expiresAt * 1000).toISOString()}. Choose an earlier expiry, or use a key that expires later.`,
    );
}

/** Throws PERMISSION_ESCALATION (403) if the principal lacks a permission or namespace of the key that the principal revokes or rotates. */
export function assertMayRevoke(principal: Principal, key: Pick<Grant, "permissions" | "namespaces">): void {
  // Checks the namespaces before the permissions. Otherwise the error message could describe a key that the principal is not allowed to
  // see.
  if (!namespacesWithin(key.namespaces, principal.namespaces))
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key for ${principal.namespaces.join(", ")} cannot revoke or rotate a key for other namespaces. Use a key for all namespaces.`,
    );
  const missing = missingPermissions(principal, key);
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_ESCALATION",
      `A key cannot revoke or rotate a key with permissions that it does not have itself: ${missing.join(", ")}. Use a key that has these permissions.`,
    );
}

function missingPermissions(principal: Principal, grant: Pick<Grant, "permissions">): Permission[] {
  return grant.permissions.filter((permission) => !principal.permissions.includes(permission));
}
