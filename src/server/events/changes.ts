import type { AuditEntry } from "../../shared/contract/audit.js";
import type { ChangePrincipal, ChangeSubject, ChangeType } from "../../shared/contract/changes.js";
import type { ErrorCode } from "../../shared/errors.js";
import type { NewEvent } from "./runtime-events.js";
import type { NewAuditEntry } from "./audit-log.js";

/** How many attempts that came to nothing are written: at once, and a second in the long run. */
const burst = 60;
const perSecond = 1;

/** A call that changes something, as far as it is known. */
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
  /** Takes out what looks like a key: names and request ids are what callers make them. */
  readonly redact: (text: string) => string;
}

/** Where every change goes: into the audit log, then to those who follow the events. */
export class Changes {
  readonly #options: ChangesOptions;
  readonly #budget = new AttemptLimiter();

  constructor(options: ChangesOptions) {
    this.#options = options;
  }

  /** Resolves when the entry is on disk, at the latest after 2 s. Never throws. */
  async made(call: ChangingCall): Promise<void> {
    const { events, audit } = this.#options;
    await audit.record(this.#entryOf(call, "done"), { isSynced: true });
    const { type, principal, subject, requestId } = this.#redacted(call);
    events.publish({ type, requestId, subject, ...(principal && { principal }) });
  }

  /** Somebody tried, and nothing was changed. Of too many there is only their number. */
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

/** Keeps whoever is refused again and again from filling the audit log, and so from pushing out what others changed. */
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
