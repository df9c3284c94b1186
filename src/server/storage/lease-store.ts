/** State of a lease. `unknown`: the holder stopped before it reported the end. `skipped`: no daemon did the work. */
export type LeaseState = "taken" | "ran" | "skipped" | "unknown";

/** A name that one daemon took, for work that must be done at most once. */
export interface Lease {
  readonly name: string;
  /** Group of leases that must not be held at the same time, such as the runs of one job. */
  readonly queue: string;
  /** Name of the daemon that took the lease, or that recorded it as skipped. */
  readonly instance: string;
  readonly state: LeaseState;
  /** Unix time in milliseconds for which the work is planned. */
  readonly slotMs: number;
  /** JSON text that the taker stored. */
  readonly detail: string;
  /** JSON text that was stored at the end. */
  readonly result: string | undefined;
}

export interface LeaseRequest extends Pick<Lease, "name" | "queue" | "slotMs" | "detail"> {
  /** Random identifier of one attempt. A repeated request with the same token has the same result. */
  readonly token: string;
}

/**
 * `mine`: the caller holds the lease. `blocked`: another lease of the queue is held, so the name is recorded as skipped. `taken`: another
 * caller took the name. `late`: `slotMs` is more than 5 s from the time of the store, and nothing changed.
 */
export type LeaseResult = "mine" | "blocked" | "taken" | "late";

/** A name that no daemon took in time. */
export type MissedLease = Pick<Lease, "name" | "queue" | "slotMs" | "detail">;

/** Result of a heartbeat. */
export interface HeartbeatResult {
  /** Leases that this call has marked as unknown, because their holders stopped. */
  readonly unknown: readonly Lease[];
  /** Ids of the daemons whose last heartbeat is at most 30 s old, including the calling daemon. */
  readonly liveInstances: readonly string[];
}

/** Whether one run of a daemon has sent a heartbeat within 30 s. */
export interface Heartbeat extends Pick<LeaseHolder, "id" | "run"> {
  readonly isLive: boolean;
}

/** A daemon as the holder of leases. */
export interface LeaseHolder {
  /** Identifier that stays the same after a restart. Each state directory of each machine has a different identifier. */
  readonly id: string;
  /** Name for operators, such as the host name. */
  readonly name: string;
  /** Random identifier of one run of the daemon. */
  readonly run: string;
}

/**
 * Store of leases for one or several daemons. A name can be taken only once. All times are from the clock of the store. If the store does
 * not respond, all methods throw KEY_STORE_UNAVAILABLE, although the request has possibly succeeded.
 */
export interface LeaseStore {
  /** Takes a name that no daemon has ever taken. After the caller has received an error, the request can still succeed for at most 2 s. */
  take(request: LeaseRequest): Promise<LeaseResult>;
  /** Returns whether a lease with this name exists. */
  has(name: string): Promise<boolean>;
  /**
   * Ends the lease with this token: sets `state` if the lease is taken or unknown. Keeps the newest 50 ended and the newest 50 skipped
   * leases of the queue.
   */
  end(name: string, token: string, state: "ran" | "skipped", result: string): Promise<void>;
  /**
   * Reports that the caller runs. Marks the leases of stopped daemons as unknown. Records a missed name as skipped if no daemon can take
   * the name any more.
   */
  settle(missed: readonly MissedLease[]): Promise<HeartbeatResult>;
  /**
   * Returns the newest leases of each queue, sorted by queue, then newest first. Returns `limit` leases per queue, and in addition older
   * leases that are held and the lease that ended last.
   */
  list(queues: readonly string[], limit: number): Promise<readonly Lease[]>;
  /**
   * Deletes the leases of all queues that begin with `prefix`, up to a planned time in Unix milliseconds. Keeps leases that are less than 5 s
   * old, because a daemon could take their names again.
   */
  forget(prefix: string, untilMs: number): Promise<void>;
  /** Returns the runs of daemons that have sent a heartbeat within 1 day. */
  heartbeats(): Promise<readonly Heartbeat[]>;
  /** Reports that the caller stops. Its leases become unknown with the next `settle`. */
  leave(): Promise<void>;
  /** Returns the time of the store in Unix milliseconds. */
  nowMs(): number;
}
