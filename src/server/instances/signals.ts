import * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import type { Notified } from "../../shared/contract/instances.js";
import type { Log } from "../log/log.js";
import type { RecordStore, StoredRecord } from "../storage/record-store.js";
import { runRecordKinds } from "../storage/run-record-kinds.js";

/** Maximum difference in ms between the estimates of the primary's time by two daemons. */
const clockToleranceMs = 1_000;

/** A request of an operator that every daemon carries out. */
const Signal = z.discriminatedUnion("type", [
  z.object({ type: z.literal("restart-worker"), name: z.string(), version: z.string() }),
  z.object({ type: z.literal("reload-plugins"), namespaces: z.array(z.string()) }),
]);
export type Signal = z.output<typeof Signal>;

/** `sentAtMs` is the time of the primary in Unix milliseconds. */
const SignalRow = z.object({ run: z.string(), sentAtMs: z.number(), signal: Signal });

interface SignalsOptions {
  readonly records: RecordStore;
  /** Random identifier of this run of the daemon. */
  readonly run: string;
  /** Returns the time of the primary in Unix milliseconds. Throws KEY_STORE_UNAVAILABLE. */
  readonly nowMs: () => number;
  /** Returns the number of other daemons that run, or of all other daemons if the primary does not respond. */
  readonly countOthers: () => Promise<number>;
  /** Carries out a signal of another daemon. */
  readonly onSignal: (signal: Signal) => Promise<void>;
  readonly log: Log;
}

/**
 * Sends requests of operators to all daemons with the same primary, through records. A daemon carries out signals that are sent after its
 * start, and ignores the signals that it has sent itself.
 */
export class Signals {
  readonly #options: SignalsOptions;
  readonly #stopFollowing: () => void;
  /** Revision up to which this daemon has received all signals. */
  #receivedRevision: number;
  readonly #openedAtMs = performance.now();

  constructor(options: SignalsOptions) {
    this.#options = options;
    this.#stopFollowing = options.records.onChange((changed) => this.#receive(changed));
    this.#receivedRevision = options.records.readRevision();
  }

  /** Stores a signal for the other daemons. A failure is part of the result, because the caller has carried out the signal already. */
  async send(signal: Signal): Promise<Notified> {
    const { records, run, nowMs, countOthers, log } = this.#options;
    try {
      const value = JSON.stringify({ run, sentAtMs: nowMs(), signal } satisfies z.output<typeof SignalRow>);
      await records.transact([{ kind: runRecordKinds.signal, key: keyOf(signal), value }]);
      return { notified: await countOthers() };
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      log.warn({ err: error }, "other daemons were not notified of a restart or reload");
      return { notified: 0, problem: "The primary of the key store does not accept changes now, so no other daemon was notified." };
    }
  }

  close(): void {
    this.#stopFollowing();
  }

  #receive(changed: readonly StoredRecord[] | "all"): void {
    const { records, run, onSignal, log } = this.#options;
    const rows = changed === "all" ? records.fetchSince(this.#receivedRevision, runRecordKinds.signal) : changed;
    // Stores the new revision even if it is lower than before, because the primary was then restored. The signals of a restored primary are
    // older than the signals that this daemon has received.
    this.#receivedRevision = records.readRevision();
    for (const { kind, value } of rows) {
      if (kind !== runRecordKinds.signal || value === undefined) continue;
      const row = SignalRow.safeParse(JSON.parse(value)).data;
      if (!row || row.run === run || !this.#isNew(row)) continue;
      void onSignal(row.signal).catch((error: unknown) =>
        log.error({ err: error, signal: row.signal }, "a signal of another daemon failed"),
      );
    }
  }

  /**
   * Returns whether a signal was sent after the start of this daemon. A replica that is behind at the start delivers older signals, too.
   * Returns false if the time of the primary is unknown.
   */
  #isNew({ sentAtMs }: z.output<typeof SignalRow>): boolean {
    try {
      return this.#options.nowMs() - sentAtMs <= performance.now() - this.#openedAtMs + clockToleranceMs;
    } catch (error) {
      if (error instanceof ApiError) return false;
      throw error;
    }
  }
}

/** Returns the key of the record. Signals with different keys do not replace each other while a daemon has not received them. */
function keyOf(signal: Signal): string {
  const subject = signal.type === "restart-worker" ? `${signal.name}@${signal.version}` : signal.namespaces.toSorted().join(",");
  return `${signal.type} ${subject}`;
}
