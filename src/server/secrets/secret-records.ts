import { namespaceOf } from "../../shared/namespace.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";
import type { SealedValue } from "./secret-cipher.js";

/** Kinds of records with secret values. A `secret` is effective. A `staged-secret` becomes effective with the next upload of its worker. */
const secretKinds = ["secret", "staged-secret"] as const;
export type SecretKind = (typeof secretKinds)[number];

/** A stored secret. Its record contains this object as JSON text. */
export interface StoredSecret {
  /** Name of a worker, such as `@team/shop`, or a namespace, such as `@team`. */
  readonly owner: string;
  readonly name: string;
  /**
   * Random identifier of the value. A new value gets a new identifier. If the same value is encrypted with another key, the identifier
   * stays the same.
   */
  readonly valueId: string;
  /** Time when the value was set, in Unix seconds. */
  readonly setAt: number;
  /** Name of the API key that set the value. */
  readonly setBy: string;
  readonly sealed: SealedValue;
}

export interface SecretRecord {
  readonly kind: SecretKind;
  readonly secret: StoredSecret;
  readonly revision: number;
}

/** The stored secrets of all workers and namespaces, encrypted and in memory. */
export class SecretRecords {
  readonly #store: RecordStore;
  /** Records by owner, then by kind and name. */
  readonly #byOwner = new Map<string, Map<string, SecretRecord>>();
  #count = 0;

  constructor(store: RecordStore) {
    this.#store = store;
    this.#apply("all");
  }

  get count(): number {
    return this.#count;
  }

  all(): SecretRecord[] {
    return [...this.#byOwner.values()].flatMap((records) => [...records.values()]);
  }

  owners(): string[] {
    return [...this.#byOwner.keys()];
  }

  of(owner: string): readonly SecretRecord[] {
    return [...(this.#byOwner.get(owner)?.values() ?? [])];
  }

  /** Returns the records of a namespace and of all workers in that namespace. */
  ofNamespace(namespace: string): SecretRecord[] {
    return this.owners().flatMap((owner) => (owner === namespace || namespaceOf(owner) === namespace ? this.of(owner) : []));
  }

  find(owner: string, name: string, kind: SecretKind): SecretRecord | undefined {
    return this.#byOwner.get(owner)?.get(idOf(kind, name));
  }

  /** Stores all changes or none, like `RecordStore.transact`. */
  transact(changes: readonly RecordChange[]): Promise<readonly StoredRecord[] | undefined> {
    return this.#store.transact(changes);
  }

  /** Calls `listener` after this or another daemon has changed records. The argument contains the owners of the changed records. */
  onChange(listener: (owners: ReadonlySet<string>) => void): void {
    this.#store.onChange((changed) => listener(this.#apply(changed)));
  }

  /** Updates the records in memory. Returns the owners whose records have possibly changed. */
  #apply(changed: readonly StoredRecord[] | "all"): Set<string> {
    const owners = new Set(changed === "all" ? this.#byOwner.keys() : []);
    if (changed === "all") {
      this.#byOwner.clear();
      this.#count = 0;
    }
    for (const kind of secretKinds) {
      for (const { key, value, revision } of changedOfKind(changed, kind, this.#store)) {
        const [owner, name] = key.split(" ") as [string, string];
        owners.add(owner);
        this.#remove(owner, idOf(kind, name));
        if (value !== undefined) this.#add({ kind, secret: JSON.parse(value) as StoredSecret, revision });
      }
    }
    return owners;
  }

  #add(record: SecretRecord): void {
    const { owner, name } = record.secret;
    const records = this.#byOwner.get(owner) ?? new Map<string, SecretRecord>();
    this.#byOwner.set(owner, records.set(idOf(record.kind, name), record));
    this.#count += 1;
  }

  #remove(owner: string, id: string): void {
    const records = this.#byOwner.get(owner);
    if (!records?.delete(id)) return;
    this.#count -= 1;
    if (records.size === 0) this.#byOwner.delete(owner);
  }
}

function idOf(kind: SecretKind, name: string): string {
  return `${kind} ${name}`;
}

/** Returns the change that stores a secret. See `RecordChange` for `ifRevision`. */
export function putSecret(kind: SecretKind, secret: StoredSecret, ifRevision?: number): RecordChange {
  return { kind, key: recordKeyOf(secret), value: JSON.stringify(secret), ...(ifRevision !== undefined && { ifRevision }) };
}

/** Returns the change that deletes a secret. See `RecordChange` for `ifRevision`. */
export function removeSecret(kind: SecretKind, secret: Pick<StoredSecret, "owner" | "name">, ifRevision?: number): RecordChange {
  return { kind, key: recordKeyOf(secret), value: undefined, ...(ifRevision !== undefined && { ifRevision }) };
}

/** Returns a text that is different for each secret. Owners and names contain no space, so a space separates them. */
export function recordKeyOf({ owner, name }: Pick<StoredSecret, "owner" | "name">): string {
  return `${owner} ${name}`;
}
