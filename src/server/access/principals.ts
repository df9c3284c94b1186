import { timingSafeEqual } from "node:crypto";
import type { Principal } from "../../shared/contract/principal.js";
import { permissions, rolePermissions } from "../../shared/permissions.js";
import type { Credential, CredentialChannel } from "./credentials.js";
import { hashKeySecret, keyPrefixLiteral } from "./key-secret.js";
import type { KeyStore, StoredKey } from "./key-store.js";

/** Who the root key stands for. */
export const rootPrincipal: Principal = {
  id: 0,
  name: "root",
  keyPrefix: "root",
  role: "admin",
  permissions: [...permissions],
  namespaces: ["*"],
  isRoot: true,
};

/** Who makes a request, and by which kind of credential. */
export interface Caller {
  readonly principal: Principal;
  readonly channel: CredentialChannel;
}

/** Tells who a credential belongs to. */
export class Principals {
  readonly #store: KeyStore;
  /** The hash in hex, as bytes: to be compared in constant time. */
  #rootKeyHash: Buffer | undefined;
  /** Written again for each comparison. */
  readonly #compared = Buffer.alloc(hashKeySecret("").length);
  readonly #now: () => number;

  /** `now` gives Unix seconds. */
  constructor(options: { store: KeyStore; rootKey: string | undefined; now: () => number }) {
    this.#store = options.store;
    this.#rootKeyHash = bytesOfHash(options.rootKey);
    this.#now = options.now;
  }

  /** From now on this is the root key, and the one before is none; true when they differ. */
  replaceRootKey(rootKey: string): boolean {
    if (this.#isRootHash(hashKeySecret(rootKey))) return false;
    this.#rootKeyHash = bytesOfHash(rootKey);
    return true;
  }

  /**
   * The first credential that is the root key or a stored key in force, and the channel it came by; "ambiguous" when session cookies of
   * different keys came without such a header, since one of them was planted.
   */
  identify(credentials: readonly Credential[]): Caller | "ambiguous" | undefined {
    const [first, second] = credentials.flatMap(({ secret, channel }) => {
      const key = this.#find(secret);
      return key ? [{ key, channel }] : [];
    });
    if (!first) return undefined;
    if (first.channel === "cookie" && second) return "ambiguous";
    return { principal: this.#use(first.key), channel: first.channel };
  }

  /** The same where nothing is told of why there is no caller. */
  resolve(credentials: readonly Credential[]): Caller | undefined {
    const caller = this.identify(credentials);
    return caller === "ambiguous" ? undefined : caller;
  }

  /** Who this secret belongs to; the root key is compared first. Counts as a use of the key. */
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

  /** Whether a token is, or looks like, a key of this daemon: such tokens are kept from app code. */
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

/** What of a stored key may be shown to its owner. */
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

/** A role's permissions follow the role, also when a later version gives it more; only `custom` keys carry their own. */
export function effectivePermissions(key: Pick<StoredKey, "role" | "permissions">): readonly StoredKey["permissions"][number][] {
  return key.role === "custom" ? key.permissions : rolePermissions[key.role];
}
