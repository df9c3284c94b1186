import type { AuditEntry } from "../../shared/contract/audit.js";
import type { ChangePrincipal, ChangeSubject, ChangeType } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import type { NewEvent } from "./runtime-events.js";
import type { NewAuditEntry } from "./audit-log.js";

/**
 * Limits the recorded failed attempts, so that a client cannot fill the audit log: `burst` attempts at once, then `perSecond` attempts per
 * second.
 */
const burst = 60;
const perSecond = 1;

/** An API call that changes data, with the details for the audit log. */
export interface ChangingCall {
  readonly type: ChangeType;
  readonly principal: ChangePrincipal | undefined;
  readonly subject: ChangeSubject;
  readonly requestId: string;
  readonly clientAddress: string;
  readonly forwardedFor: string | undefined;
}

interface ChangesOptions {
  readonly events: { publish(event: NewEvent): void };
  readonly audit: { record(entry: NewAuditEntry, options: { isSynced: boolean }): Promise<void>; skip(): void };
  /** Redacts text that has the form of a key. Needed because clients choose names and request ids. */
  readonly redact: (text: string) => string;
}

/** Records every change in the audit log, then publishes it as an event. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #budget = new AttemptLimiter();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Records a completed change and publishes an event. Resolves when the audit entry is on the disk, or after 2 s. Never throws. */
  async made(call: ChangingCall): Promise<void> {
    const { events, audit } = this.#options;
    await audit.record(this.#entryOf(call, "done"), { isSynced: true });
    const { type, principal, subject, requestId } = this.#redacted(call);
    events.publish({ type, requestId, subject, ...(principal && { principal }) });
  }

  /** Records an attempt that changed nothing. Attempts above the limit are only counted. */
  attempted(call: ChangingCall, outcome: "refused" | "failed", code: ErrorCode): void {
    const { audit } = this.#options;
    if (this.#budget.admits()) void audit.record({ ...this.#entryOf(call, outcome), code }, { isSynced: false });
    else audit.skip();
  }

  #entryOf(call: ChangingCall, outcome: AuditEntry["outcome"]): NewAuditEntry {
    const { type: action, principal, subject, requestId, clientAddress, forwardedFor } = this.#redacted(call);
    return {
      action,
      outcome,
      ...(principal && { principal }),
      clientAddress,
      ...(forwardedFor !== undefined && { forwardedFor }),
      requestId,
      subject,
    };
  }

  #redacted(call: ChangingCall): ChangingCall {
    return JSON.parse(this.#options.redact(JSON.stringify(call))) as ChangingCall;
  }
}

/** Limits the failed attempts in the audit log, so that these do not displace the changes. */
class AttemptLimiter {
  #left = burst;
  #countedAtMs = performance.now();

  admits(): boolean {
    const nowMs = performance.now();
    this.#left = Math.min(burst, this.#left + ((nowMs - this.#countedAtMs) / 1000) * perSecond);
    this.#countedAtMs = nowMs;
    if (this.#left < 1) return false;
    this.#left -= 1;
    return true;
  }
}
