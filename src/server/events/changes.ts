import type { AuditEntry } from "../../shared/contract/audit.js";
import type { ChangePrincipal, ChangeSubject, ChangeType } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import type { NewEvent } from "./runtime-events.js";
import type { NewAuditEntry } from "./audit-log.js";

/**
 * Limits for failed attempts in the audit log: `burst` attempts at once, then `perSecond` attempts per second. Without these limits, a
 * client could fill the audit log.
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
  /** Replaces text that looks like an API key. Clients choose names and request ids, so these can contain a key. */
  readonly redact: (text: string) => string;
}

/** Records every change in the audit log. Then publishes the change as an event. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #budget = new AttemptLimiter();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Records a completed change, then publishes an event. Resolves when the audit entry is on the disk, at most 2 s later. Never throws. */
  async made(call: ChangingCall): Promise<void> {
    const { events, audit } = this.#options;
    await audit.record(this.#entryOf(call, "done"), { isSynced: true });
    const { type, principal, subject, requestId } = this.#redacted(call);
    events.publish({ type, requestId, subject, ...(principal && { principal }) });
  }

  /** Records a failed attempt to change data. If the attempts exceed the limit, only counts the attempt. */
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

/** Limits the number of failed attempts in the audit log. Without the limit, attempts would displace the entries about changes. */
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
