import type { PrimarySource } from "../../config/primary-source.js";
import { NewerStateError } from "../../config/newer-state-error.js";
import type { Log } from "../../log/log.js";
import type { Position } from "./primary-sql.js";
import { ReplicaReader, type ReplicaFolder } from "./replica-database.js";
import { ReplicaSyncer } from "./replica-syncer.js";

interface ReplicaOptions {
  readonly source: PrimarySource;
  readonly folder: ReplicaFolder;
  readonly log: Log;
}

/** The current replica of a daemon: its file, the syncer that writes the file, and the reader. */
export class Replica {
  readonly #options: ReplicaOptions;
  #reader: ReplicaReader | undefined;
  #syncer: ReplicaSyncer;

  constructor(options: ReplicaOptions) {
    this.#options = options;
    this.#syncer = this.#syncerOf(options.folder.currentFile);
  }

  /** Undefined before the first fetch. */
  get reader(): ReplicaReader | undefined {
    return this.#reader;
  }

  /** True if an earlier sync found that the primary lacks revisions of this replica. Stays true after a restart. */
  get isDiverged(): boolean {
    return this.#options.folder.isDiverged;
  }

  set isDiverged(isDiverged: boolean) {
    const { folder } = this.#options;
    if (folder.hasCurrent && folder.isDiverged !== isDiverged) folder.isDiverged = isDiverged;
  }

  /**
   * Opens and loads the stored replica. Resolves with false if it is missing or damaged. Deletes a damaged replica. Throws NewerStateError
   * for a newer schema.
   */
  async open(load: (reader: ReplicaReader) => Promise<void>): Promise<boolean> {
    const { folder, log } = this.#options;
    if (!folder.hasCurrent) return false;
    try {
      this.#reader = new ReplicaReader(folder.currentFile);
      await load(this.#reader);
      return true;
    } catch (error) {
      if (error instanceof NewerStateError) throw error;
      log.error({ err: error }, "the replica of the key store is damaged, so the daemon deletes the replica and fetches a new one");
      this.close();
      folder.removeCurrent();
      return false;
    }
  }

  /** Returns the replica's position, or undefined if no readable replica exists. */
  readPosition(): Position | undefined {
    if (!this.#reader || !this.#options.folder.hasCurrent) return undefined;
    try {
      return this.#reader.readPosition();
    } catch (error) {
      this.#options.log.error({ err: error }, "the replica of the key store cannot be read, so the daemon fetches a new one");
      return undefined;
    }
  }

  /** Fetches new changes from the primary. Throws an Error with the reason of a failure. */
  async sync(): Promise<void> {
    await this.#syncer.sync();
  }

  /** Fetches a complete new replica, which replaces the current one when it is complete. */
  async fetchAgain(): Promise<ReplicaReader> {
    const { folder } = this.#options;
    await this.#syncer.stop();
    const file = folder.prepareNext();
    this.#syncer = this.#syncerOf(file);
    try {
      await this.#syncer.sync();
    } finally {
      await this.#syncer.stop();
      this.#syncer = this.#syncerOf(folder.currentFile);
    }
    new ReplicaReader(file).close();
    this.close();
    folder.takeNext();
    this.#reader = new ReplicaReader(folder.currentFile);
    return this.#reader;
  }

  /** Kills the syncer. A running sync then fails. */
  async stop(): Promise<void> {
    await this.#syncer.stop();
  }

  close(): void {
    this.#reader?.close();
    this.#reader = undefined;
  }

  #syncerOf(file: string): ReplicaSyncer {
    const { url, token } = this.#options.source;
    return new ReplicaSyncer({ file, url, token });
  }
}
