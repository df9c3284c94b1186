import { ApiError } from "../../shared/api-error.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";

/** Kind of the records that reserve a path for a worker or a plugin. The key of a record is the path, such as `/shop`. */
const pathKind = "path";

type OwnerKind = "worker" | "plugin";

interface Claim {
  /** Kind and name of the owner, such as `worker shop`. */
  readonly owner: string;
  readonly revision: number;
}

/**
 * The paths of workers and the base paths of plugins that daemons share. A change of a package claims the path in the same transaction. If
 * two daemons install packages with one path at the same time, one of them fails with BASE_TAKEN.
 */
export class PathClaims {
  readonly #claims = new Map<string, Claim>();

  /** Follows the records until their store is closed. */
  constructor(records: RecordStore) {
    records.onChange((changed) => this.#apply(changed, records));
    this.#apply("all", records);
  }

  /** Returns the change that claims a path. Throws BASE_TAKEN if another package has claimed the path. */
  claim(path: string, kind: OwnerKind, name: string): RecordChange {
    const claim = this.#claims.get(path);
    const owner = `${kind} ${name}`;
    if (claim && claim.owner !== owner) {
      throw new ApiError("BASE_TAKEN", `The path ${path} belongs to the ${claim.owner}, possibly on another daemon. Choose another path.`);
    }
    return { kind: pathKind, key: path, value: JSON.stringify({ owner }), ifRevision: claim?.revision ?? 0 };
  }

  /** Returns the changes that end all claims of a package, except the claim of `kept`. */
  release(kind: OwnerKind, name: string, kept?: string): RecordChange[] {
    return [...this.#claims]
      .filter(([path, { owner }]) => owner === `${kind} ${name}` && path !== kept)
      .map(([key, { revision }]) => ({ kind: pathKind, key, value: undefined, ifRevision: revision }));
  }

  #apply(changed: readonly StoredRecord[] | "all", records: RecordStore): void {
    if (changed === "all") this.#claims.clear();
    for (const { key, value, revision } of changedOfKind(changed, pathKind, records)) {
      const { owner } = value === undefined ? {} : (JSON.parse(value) as { owner?: unknown });
      if (typeof owner === "string") this.#claims.set(key, { owner, revision });
      else this.#claims.delete(key);
    }
  }
}
