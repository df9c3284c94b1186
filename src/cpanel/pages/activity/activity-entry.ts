import type { AuditEntry } from "../../../shared/contract/audit.js";
import { changeTypes, nounOf, type ChangeSubject } from "../../../shared/contract/changes.js";
import type { RuntimeEvent } from "../../../shared/contract/events.js";
import { rowKey } from "../logs/log-row.js";

/** Outcomes of a row: the outcomes of the audit log, and `observed` for an event that no request caused. */
export const outcomes = ["done", "refused", "failed", "observed"] as const;
export type Outcome = (typeof outcomes)[number];

/** One row of the activity: an entry of the audit log, or an event. */
export interface ActivityEntry {
  /** Identifier that is unique among audit entries and events together. */
  readonly key: string;
  /** Unix time in milliseconds. */
  readonly at: number;
  readonly action: string;
  readonly outcome: Outcome;
  /** New health state of a worker or plugin. Undefined for all other rows. */
  readonly state?: RuntimeEvent["state"];
  /** Error code of a rejected or failed request. */
  readonly code?: string | undefined;
  /** Name of the key that made the request. Undefined if the request had no valid key, or if no request caused the event. */
  readonly who?: string | undefined;
  readonly subject: string;
  readonly message?: string | undefined;
  readonly address?: string | undefined;
  /** Name or id of the daemon that wrote the entry. Undefined if there is only one daemon. */
  readonly instance?: string | undefined;
  readonly requestId?: string | undefined;
  /** The entry as the daemon sent it, for the export. */
  readonly source: AuditEntry | RuntimeEvent;
}

export function fromAudit(entry: AuditEntry): ActivityEntry {
  const { at, action, outcome, code, principal, subject, clientAddress, forwardedFor, requestId, skippedCount, instance } = entry;
  return {
    key: rowKey("audit", entry, at),
    at,
    action,
    outcome,
    code,
    who: principal?.name,
    subject: subjectText(subject),
    message: skippedCount === undefined ? undefined : `${skippedCount} entries were not written`,
    address: forwardedFor === undefined ? clientAddress : `${forwardedFor} (through ${clientAddress})`,
    instance,
    requestId,
    source: entry,
  };
}

export function fromEvent(event: RuntimeEvent): ActivityEntry {
  const { at, type, state, principal, subject, message, requestId, instance } = event;
  const isChange = isOneOf(changeTypes, type);
  return {
    key: rowKey("event", event, at),
    at,
    action: type,
    outcome: isChange ? "done" : "observed",
    state,
    who: principal?.name,
    subject: subjectText(subject),
    message,
    instance,
    requestId,
    source: event,
  };
}

/**
 * Whether the audit log has no entry for an event. True for events such as a changed app state. False for changes through the API, and for
 * events about the stream itself.
 */
export function isOnlyEvent({ type }: RuntimeEvent): boolean {
  return nounOf(type) !== "stream" && !isOneOf(changeTypes, type);
}

function isOneOf(known: readonly string[], type: string): boolean {
  return known.includes(type);
}

/**
 * Returns the subject of an action as text, such as `shop 1.2.0`, `shop.example.org`, `API_KEY of shop` or `key 7`, followed by the changed
 * files.
 */
function subjectText(subject: ChangeSubject | undefined): string {
  if (!subject) return "";
  const { name, version, host, secret, id, paths, namespaces, replacedBy } = subject;
  // Omits `*`, which stands for all namespaces, because it does not distinguish one key or session from another.
  const limited = namespaces?.filter((namespace) => namespace !== "*").join(", ");
  const owner = name ?? (limited === "" ? undefined : limited);
  const parts = [
    host ?? secret,
    owner === undefined ? undefined : host !== undefined || secret !== undefined ? `of ${owner}` : owner,
    version,
    name === undefined && id !== undefined ? `key ${id}` : undefined,
    replacedBy === undefined ? undefined : `→ key ${replacedBy}`,
    paths && paths.length > 0 ? paths.join(", ") : undefined,
  ];
  return parts.filter((part) => part !== undefined).join(" ");
}

export interface ActivityFilter {
  readonly search: string;
  readonly who: string;
  /** Filter for a resource such as `worker`, or for an action such as `worker.installed`. */
  readonly action: string;
  readonly outcome: string;
  readonly instance: string;
}

/** Returns the entries that match every part of the filter. An empty part matches all entries. */
export function filterActivity(
  entries: readonly ActivityEntry[],
  { search, who, action, outcome, instance }: ActivityFilter,
): readonly ActivityEntry[] {
  const wanted = search.trim().toLowerCase();
  return entries.filter(
    (entry) =>
      (who === "" || entry.who === who) &&
      (action === "" || entry.action === action || entry.action.startsWith(`${action}.`)) &&
      (outcome === "" || entry.outcome === outcome) &&
      (instance === "" || entry.instance === instance) &&
      (wanted === "" || textOf(entry).includes(wanted)),
  );
}

function textOf({ action, who, subject, message, code, address, instance, requestId }: ActivityEntry): string {
  return [action, who, subject, message, code, address, instance, requestId].join(" ").toLowerCase();
}

/** Returns the entries as lines of JSON, oldest first, as the API sends them. */
export function toJsonLines(entries: readonly ActivityEntry[]): string {
  const lines = entries.toSorted((one, other) => one.at - other.at).map(({ source }) => JSON.stringify(source));
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}
