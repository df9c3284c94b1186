import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import type { SealedValue } from "./secret-cipher.js";

/** A value is in effect ("secret"), or it takes effect with the next upload of its worker ("staged-secret"). */
const secretKinds = ["secret", "staged-secret"] as const;
export type SecretKind = (typeof secretKinds)[number];

/** A stored secret: the JSON text of its record. */
export interface StoredSecret {
  /** A worker such as `@team/shop`, or a namespace such as `@team`. */
  readonly owner: string;
  readonly name: string;
  /** Differs for each value that was set; stays the same when the value is encrypted with another key. */
  readonly valueId: string;
  /** Unix seconds. */
  readonly setAt: number;
  /** Name of the key that set it. */
  readonly setBy: string;
  readonly sealed: SealedValue;
}

export interface SecretRecord {
  readonly kind: SecretKind;
  readonly secret: StoredSecret;
  readonly revision: number;
}

/** The stored secrets of all workers and namespaces, still encrypted, in memory. */
export class SecretRecords {
  readonly #store: RecordStore;
  #byOwner = new Map<string, SecretRecord[]>();
  #count = 0;

  constructor(store: RecordStore) {
    this.#store = store;
    this.refresh();
  }

  /** Reads all records: a primary that was set back to an older state can have lost some. */
  refresh(): void {
    this.#byOwner = new Map();
    this.#count = 0;
    for (const { kind, value, revision } of this.#store.fetchSince(0)) {
      if (!isSecretKind(kind) || value === undefined) continue;
      const secret = JSON.parse(value) as StoredSecret;
      const records = this.#byOwner.get(secret.owner) ?? [];
      this.#byOwner.set(secret.owner, [...records, { kind, secret, revision }]);
      this.#count += 1;
    }
  }

  get count(): number {
    return this.#count;
  }

  all(): SecretRecord[] {
    return [...this.#byOwner.values()].flat();
  }

  owners(): string[] {
    return [...this.#byOwner.keys()];
  }

  of(owner: string): readonly SecretRecord[] {
    return this.#byOwner.get(owner) ?? [];
  }

  find(owner: string, name: string, kind: SecretKind): SecretRecord | undefined {
    return this.of(owner).find((record) => record.kind === kind && record.secret.name === name);
  }

  /** Makes all changes or none; see RecordStore. */
  transact(changes: readonly RecordChange[]): Promise<readonly StoredRecord[] | undefined> {
    return this.#store.transact(changes);
  }

  /** Calls after this or another daemon changed records. */
  onChange(listener: () => void): void {
    this.#store.onChange(listener);
  }
}

function isSecretKind(kind: string): kind is SecretKind {
  return (secretKinds as readonly string[]).includes(kind);
}

/** `ifRevision`: see RecordChange. */
export function putSecret(kind: SecretKind, secret: StoredSecret, ifRevision?: number): RecordChange {
  return { kind, key: placeOf(secret), value: JSON.stringify(secret), ...(ifRevision !== undefined && { ifRevision }) };
}

/** `ifRevision`: see RecordChange. */
export function removeSecret(kind: SecretKind, secret: Pick<StoredSecret, "owner" | "name">, ifRevision?: number): RecordChange {
  return { kind, key: placeOf(secret), value: undefined, ...(ifRevision !== undefined && { ifRevision }) };
}

/** Identifies a secret among all. Owners and names contain no space. */
export function placeOf({ owner, name }: Pick<StoredSecret, "owner" | "name">): string {
  return `${owner} ${name}`;
}
