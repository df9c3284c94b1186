import type { AuditEntry } from "../../shared/contract/audit.js";
import type { ChangePrincipal, ChangeSubject } from "../../shared/contract/changes.js";
import type { RuntimeEvent } from "../../shared/contract/events.js";
import { sanitizeForTerminal } from "./sanitize-for-terminal.js";

/** Returns a text for the package, key or process that a change concerns, such as `app@1.0.0` or `key 7`. */
function subjectText({ name, version, id, paths = [], replacedBy, cronIndex, pid }: ChangeSubject = {}): string {
  const named = name === undefined ? "" : `${name}${version === undefined ? "" : `@${version}`}`;
  const numbered = id === undefined ? "" : `key ${id}${replacedBy === undefined ? "" : ` → ${replacedBy}`}`;
  const detail = cronIndex === undefined ? (pid === undefined ? "" : `process ${pid}`) : `cron job ${cronIndex}`;
  return [paths.length > 0 ? "" : named, numbered, detail, ...paths].filter((part) => part !== "").join(" ");
}

function principalText(principal: ChangePrincipal | undefined): string {
  if (!principal) return "";
  return principal.id === 0 ? principal.name : `${principal.name} (${principal.id})`;
}

/** Column headings for audit entries, in the order of `auditCells`. */
export const auditHeadings = ["TIME", "ACTION", "OUTCOME", "SUBJECT", "PRINCIPAL", "ADDRESS", "REQUEST"];

export function auditCells(entry: AuditEntry, time: string): string[] {
  const { action, outcome, code, subject, principal, clientAddress, requestId, skippedCount } = entry;
  const about = skippedCount === undefined ? subjectText(subject) : `${skippedCount} not written`;
  return [time, action, code === undefined ? outcome : `${outcome} ${code}`, about, principalText(principal), clientAddress, requestId];
}

/** Returns the cells for an event: time, type, subject, principal, message. */
export function eventCells({ type, subject, principal, message = "" }: RuntimeEvent, time: string): string[] {
  return [time, type, subjectText(subject), principalText(principal), message];
}

/** Returns the line for an event or audit entry. On a terminal, empty cells are omitted. In a pipe, tabs separate all cells. */
export function changeLine(cells: readonly string[], isForPeople: boolean): string {
  const safe = cells.map((cell) => sanitizeForTerminal(cell));
  return isForPeople ? safe.filter((cell) => cell !== "").join("  ") : safe.join("\t");
}

/** Returns the JSON document of an event or audit entry, with its time as text and as Unix milliseconds. */
export function changeDocument({ id, at, ...rest }: RuntimeEvent | AuditEntry): object {
  return { id, at: new Date(at).toISOString(), atMilliseconds: at, ...rest };
}
