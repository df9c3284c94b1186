import { list, type AuditEntry, type AuditFilter } from "../../shared/contract/audit.js";
import { nounOf } from "../../shared/contract/changes.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover, namespacesWithin } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import type { ResourceHandlers } from "../http/handler.js";
import { readEntries } from "../instances/merged-entries.js";
import { followEntries, type ListedSource, type StreamingInstances } from "./follow-entries.js";

/** Filter of the audit log. `isVisible` returns true if the caller is allowed to see an entry. */
export type AuditQuery = AuditFilter & { readonly isVisible: (entry: AuditEntry) => boolean };

/** The functions of the audit log that these handlers use. */
export interface AuditPort {
  read(query: AuditQuery): Promise<{ entries: AuditEntry[]; hasMore: boolean }>;
  follow(query: AuditQuery, lastEventId: number | undefined, signal: AbortSignal): AsyncIterable<AuditEntry[]>;
}

export function createAuditHandlers(audit: AuditPort, instances: StreamingInstances): ResourceHandlers<"audit"> {
  return {
    list: async ({ query: { since, action: actions, follow, instance: wanted, before, ...query }, lastEventId, principal, key }) => {
      const sinceMs = since === undefined ? undefined : parsePastTimeMs(since, Date.now());
      const isVisible = (entry: AuditEntry) => maySee(principal, entry);
      const filter = { ...query, actions, sinceMs, isVisible };
      const forwarded = { ...query, action: actions?.join(","), instance: "self" };
      const source: ListedSource<AuditOperations, AuditEntry> = {
        key,
        offered,
        limit: query.limit,
        timeOf: ({ at }) => at,
        isVisible,
        read: (beforeId) => audit.read({ ...filter, before: beforeId }),
        ask: (client, page) => client.audit.list({ query: { ...forwarded, since, ...page } }),
        follow: ({ afterId, beforeId }, signal) => audit.follow({ ...filter, before: beforeId }, afterId, signal),
        askToFollow: (client, options) => client.audit.list.follow({ query: { ...forwarded, since } }, options),
      };
      const call = { wanted, before, lastEventId };
      return follow === "1" ? followEntries(instances, source, call) : readEntries(instances, call, source);
    },
  };
}

const offered = { audit: { list } };
type AuditOperations = typeof offered;

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
