import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { ApiError } from "../../shared/api-error.js";
import type { Log } from "../log/log.js";
import type { BlobStore } from "../registry/blob-store.js";
import type { Digest } from "../registry/verified-download.js";
import { changedOfKind } from "../storage/changed-of-kind.js";
import type { LeaseStore } from "../storage/lease-store.js";
import type { RecordChange, RecordStore, StoredRecord } from "../storage/record-store.js";

/** Kind of the records of archives that no package references. The key of a record is the digest. */
const archiveKind = "archive";
/** Time in ms after which an archive without a reference is deleted. */
const keptMs = 24 * 60 * 60_000;
/** Interval in ms at which each daemon tries to delete archives. For each hour, only one daemon gets the lease to do so. */
const collectEveryMs = 60 * 60_000;
/** Time in ms after which a deletion counts as interrupted by a crash. A call to the registry ends after 2 s without progress. */
const interruptedMs = 10 * 60_000;
/** Pause in ms, and number of pauses, while an upload waits for the deletion of the same archive. */
const deletionPauseMs = 200;
const mostPauses = 25;

interface Entry {
  /** Unix time in ms at which the archive lost its last reference, or at which its deletion began. */
  readonly atMs: number;
  readonly isDeleting: boolean;
  readonly revision: number;
}

interface ArchiveCollectorOptions {
  readonly records: RecordStore;
  readonly leases: Pick<LeaseStore, "take" | "end" | "nowMs">;
  readonly blobs: BlobStore;
  /**
   * True with a primary. Without a primary, this daemon does not know the packages of other daemons in the same repository, so it deletes
   * no archive.
   */
  readonly isShared: boolean;
  readonly log: Log;
  /** Returns Unix time in ms. Only tests set this function. */
  readonly now?: () => number;
}

/**
 * Deletes an archive from the registry one day after the last package that referenced it was replaced or deleted. An upload of the same
 * archive first renews the archive's record. A deletion does not begin if the record has changed.
 */
export class ArchiveCollector {
  readonly #options: ArchiveCollectorOptions;
  readonly #entries = new Map<string, Entry>();
  readonly #timer: NodeJS.Timeout;
  readonly #stopFollowing: () => void;
  #isUnsupported = false;

  constructor(options: ArchiveCollectorOptions) {
    this.#options = options;
    this.#stopFollowing = options.records.onChange((changed) => this.#apply(changed));
    this.#apply("all");
    this.#timer = setInterval(() => void this.collect(), collectEveryMs).unref();
  }

  /**
   * Keeps an archive for one day, even without a reference. Must be called before the archive is sent to the registry. Waits while the same
   * archive is being deleted.
   */
  async keep(digest: string): Promise<void> {
    const { records } = this.#options;
    for (let pauses = 0; pauses < mostPauses; pauses += 1) {
      const entry = this.#entries.get(digest);
      if (!entry?.isDeleting || this.#now() - entry.atMs > interruptedMs) {
        if (await records.transact([this.#changeOf(digest, { atMs: this.#now(), isDeleting: false }, entry)])) return;
      }
      await delay(deletionPauseMs);
    }
    throw new ApiError(
      "CHANGE_CONFLICT",
      "Another daemon is deleting the same archive from the registry. Nothing was changed. Send the upload again.",
    );
  }

  /**
   * Returns the changes of archive records for a transaction that adds a reference to `digest` and removes the references to `released`.
   */
  changesFor(digest: string | undefined, released: readonly string[]): RecordChange[] {
    const freed = [...new Set(released)].filter((each) => each !== digest);
    return [
      ...(digest === undefined ? [] : [{ kind: archiveKind, key: digest, value: undefined }]),
      ...freed.map((key) => ({ kind: archiveKind, key, value: JSON.stringify({ atMs: this.#now(), isDeleting: false }) })),
    ];
  }

  /** Deletes old archives if this daemon gets the lease of the current hour. Never throws. */
  async collect(): Promise<void> {
    const { leases, isShared, log } = this.#options;
    try {
      if (!isShared || this.#isUnsupported || this.#due().length === 0) return;
      const slotMs = leases.nowMs();
      const name = `archives ${new Date(slotMs).toISOString().slice(0, 13)}`;
      const token = randomUUID();
      if ((await leases.take({ name, queue: "archives", slotMs, detail: "{}", token })) !== "mine") return;
      try {
        const values = this.#packageValues();
        for (const digest of this.#due()) await this.#delete(digest, values);
      } finally {
        await leases.end(name, token, "ran", "{}");
      }
    } catch (error) {
      log.warn({ err: error }, "archives without a reference could not be deleted; the daemon tries again in 1 hour");
    }
  }

  close(): void {
    clearInterval(this.#timer);
    this.#stopFollowing();
  }

  #due(): string[] {
    const isDue = ({ atMs, isDeleting }: Entry) => this.#now() - atMs > (isDeleting ? interruptedMs : keptMs);
    return [...this.#entries].filter(([, entry]) => isDue(entry)).map(([digest]) => digest);
  }

  /** Returns the values of all records that can contain the digest of an archive, including values that this daemon cannot parse. */
  #packageValues(): string[] {
    return this.#options.records.fetchSince(0).flatMap(({ kind, value }) => (kind === archiveKind || value === undefined ? [] : [value]));
  }

  async #delete(digest: string, packageValues: readonly string[]): Promise<void> {
    const { records, blobs, log } = this.#options;
    const entry = this.#entries.get(digest);
    if (!entry || this.#isUnsupported) return;
    if (packageValues.some((value) => value.includes(digest)))
      return void (await records.transact([this.#changeOf(digest, undefined, entry)]));
    const begun = await records.transact([this.#changeOf(digest, { atMs: this.#now(), isDeleting: true }, entry)]);
    const [row] = begun ?? [];
    // Does not delete the archive if its record has changed meanwhile, for example by an upload of the same archive.
    if (!row) return;
    const result = await blobs.remove(digest as Digest);
    const end = result === "removed" ? undefined : { atMs: entry.atMs, isDeleting: false };
    await records.transact([this.#changeOf(digest, end, row)]);
    if (result === "removed") log.info({ digest }, "deleted an archive without a reference from the registry");
    else {
      this.#isUnsupported = true;
      log.warn("the registry does not delete archives: delete unused archives with the tools of the registry");
    }
  }

  #changeOf(key: string, value: object | undefined, before: { readonly revision: number } | undefined): RecordChange {
    return { kind: archiveKind, key, value: value && JSON.stringify(value), ifRevision: before?.revision ?? 0 };
  }

  #apply(changed: readonly StoredRecord[] | "all"): void {
    if (changed === "all") this.#entries.clear();
    for (const { key, value, revision } of changedOfKind(changed, archiveKind, this.#options.records)) {
      const { atMs, isDeleting } = value === undefined ? {} : (JSON.parse(value) as Partial<Entry>);
      if (typeof atMs === "number") this.#entries.set(key, { atMs, isDeleting: isDeleting === true, revision });
      else this.#entries.delete(key);
    }
  }

  #now(): number {
    return (this.#options.now ?? Date.now)();
  }
}
