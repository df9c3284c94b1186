import type * as z from "zod";
import { ApiError } from "../../shared/api-error.js";
import type { ClientOf } from "../../shared/client.js";
import { list, type AuditEntry, type AuditFilter } from "../../shared/contract/audit.js";
import { nounOf } from "../../shared/contract/changes.js";
import type { EventFeed } from "../http/handler.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover, namespacesWithin } from "../../shared/namespace.js";
import { parsePastTimeMs } from "../../shared/past-time.js";
import type { ResourceHandlers } from "../http/handler.js";
import { asksOthers, collectAnswers, toListedInstances, type KnownInstances } from "../instances/ask-others.js";
import type { InstanceQuestion } from "../instances/instance-client.js";

/** Filter of the audit log. `isVisible` returns true if the caller is allowed to see an entry. */
export type AuditQuery = AuditFilter & { readonly isVisible: (entry: AuditEntry) => boolean };

/** The functions of the audit log that these handlers use. */
export interface AuditPort {
  read(query: AuditQuery): Promise<{ entries: AuditEntry[]; hasMore: boolean }>;
  follow(query: AuditQuery, lastEventId: number | undefined, signal: AbortSignal): AsyncIterable<AuditEntry[]>;
}

export function createAuditHandlers(audit: AuditPort, instances: KnownInstances): ResourceHandlers<"audit"> {
  return {
    list: async ({ query: { since, action: actions, follow, instance, ...query }, lastEventId, principal, key }) => {
      const sinceMs = since === undefined ? undefined : parsePastTimeMs(since, Date.now());
      const wanted = { ...query, actions, sinceMs, isVisible: (entry: AuditEntry) => maySee(principal, entry) };
      if (asksOthers(instances, instance) && !(follow === "1" && instance === "all")) {
        if (follow === "1") throw new ApiError("INVALID_REQUEST", "A stream has the entries of one daemon: omit instance, or omit follow.");
        const question = { ...query, since, action: actions?.join(","), instance: "self" };
        const call = ({ audit: other }: ClientOf<AuditOperations>) => other.list({ query: question });
        return readFrom(instance, { instances, question: { key, offered, call }, readOwn: () => audit.read(wanted), limit: query.limit });
      }
      if (follow !== "1") return audit.read(wanted);
      const feed: EventFeed<AuditEntry> = (signal) => audit.follow(wanted, lastEventId, signal);
      return feed;
    },
  };
}

const offered = { audit: { list } };
type AuditOperations = typeof offered;
type AuditPage = Pick<z.output<typeof list.result>, "entries" | "hasMore">;

interface ReadingOptions {
  readonly instances: KnownInstances;
  readonly question: InstanceQuestion<AuditOperations, AuditPage>;
  readonly readOwn: () => Promise<AuditPage>;
  readonly limit: number;
}

/** Returns the newest entries of one daemon or of `all`, oldest first. Throws INSTANCE_NOT_FOUND or INSTANCE_UNAVAILABLE. */
async function readFrom(wanted: string, { instances, question, readOwn, limit }: ReadingOptions): Promise<z.output<typeof list.result>> {
  const answers = await collectAnswers(instances, wanted, { question, readOwn });
  const pages = answers.flatMap(({ instance: { name }, answer }) => ("result" in answer ? [{ name, ...answer.result }] : []));
  const entries = pages.flatMap(({ name, entries: ofOne }) => ofOne.map((entry) => ({ ...entry, instance: name })));
  return {
    entries: entries.toSorted((entry, other) => entry.at - other.at).slice(-limit),
    hasMore: entries.length > limit || pages.some(({ hasMore }) => hasMore),
    instances: toListedInstances(answers),
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
