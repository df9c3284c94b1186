import type { AuditEntry, AuditFilter } from "../../shared/contract/audit.js";
import { nounOf } from "../../shared/contract/changes.js";
import type { EventFeed } from "../http/handler.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover, namespacesWithin } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import type { ResourceHandlers } from "../http/handler.js";

/** Filter of the audit log. `isVisible` returns true if the caller is allowed to see an entry. */
export type AuditQuery = AuditFilter & { readonly isVisible: (entry: AuditEntry) => boolean };

/** The functions of the audit log that these handlers use. */
export interface AuditPort {
  read(query: AuditQuery): Promise<{ entries: AuditEntry[]; hasMore: boolean }>;
  follow(query: AuditQuery, lastEventId: number | undefined, signal: AbortSignal): AsyncIterable<AuditEntry[]>;
}

export function createAuditHandlers(audit: AuditPort): ResourceHandlers<"audit"> {
  return {
    list: ({ query: { since, action: actions, follow, ...query }, lastEventId, principal }) => {
      const sinceMs = since === undefined ? undefined : parsePastTimeMs(since, Date.now());
      const wanted = { ...query, actions, sinceMs, isVisible: (entry: AuditEntry) => maySee(principal, entry) };
      if (follow !== "1") return audit.read(wanted);
      const feed: EventFeed<AuditEntry> = (signal) => audit.follow(wanted, lastEventId, signal);
      return feed;
    },
  };
}

/**
 * Returns true if the caller is allowed to see an entry. A key that is restricted to namespaces sees entries about packages and secrets in
 * these namespaces, and entries about its own actions.
 */
function maySee({ id, namespaces }: Principal, { action, principal, subject }: AuditEntry): boolean {
  if (namespaces.includes("*") || principal?.id === id) return true;
  const noun = nounOf(action);
  if (noun === "secret" && subject?.name === undefined) return namespacesWithin(subject?.namespaces ?? ["*"], namespaces);
  return (
    (noun === "worker" || noun === "plugin" || noun === "secret") &&
    subject?.name !== undefined &&
    namespacesCover(namespaces, subject.name)
  );
}
