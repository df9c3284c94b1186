import * as z from "zod";
import { errorTable, type ErrorCode } from "../errors.js";
import { ChangePrincipal, ChangeSubject, changeTypes, typeListOf } from "./changes.js";
import { endpoint } from "./endpoint.js";
import { followQuery } from "./follow-query.js";
import { sinceQuery } from "./time-query.js";

const errorCodes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]];

/** What an entry is about: a change, or `audit.skipped` in the place of entries that were not written. */
export const auditActions = [...changeTypes, "audit.skipped"] as const;

export const AuditEntry = z.object({
  id: z.int().describe("Grows with every entry, also across restarts of the daemon"),
  at: z.int().describe("Unix time in milliseconds"),
  action: z.enum(auditActions),
  outcome: z.enum(["done", "refused", "failed"]).describe("`refused`: 401 or 403; `failed`: any other error, nothing was changed"),
  code: z.enum(errorCodes).optional().describe("The error code, unless it is done"),
  principal: ChangePrincipal.optional().describe("Who; absent where no key was known"),
  clientAddress: z.string().describe("Address that the connection came from: the proxy's, where there is one"),
  forwardedFor: z.string().optional().describe("What the request's X-Forwarded-For says; true only if your proxy sets it"),
  requestId: z.string(),
  subject: ChangeSubject.optional(),
  skippedCount: z.int().optional().describe("Of audit.skipped: how many attempts or entries left no entry of their own"),
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** Which entries of the audit log are meant. */
export interface AuditFilter {
  /** Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Id or name of a key. */
  readonly principal?: string | undefined;
  readonly actions?: readonly string[] | undefined;
  /** Entries with a lower id only. */
  readonly before?: number | undefined;
  /** The newest that many. */
  readonly limit: number;
}

export const list = endpoint({
  method: "GET",
  path: "/audit",
  summary: "Read the audit log, or follow it: who changed what, from where, and who was refused",
  access: "audit:read",
  query: z.object({
    ...sinceQuery,
    action: typeListOf(auditActions).describe("These actions only, separated by commas; `key` stands for all of `key.*`"),
    principal: z.string().min(1).max(100).optional().describe("Only what the key with this id or name did"),
    before: z.coerce.number<number>().int().min(0).optional().describe("Entries with a lower id: the way to older ones"),
    ...followQuery,
    limit: z.coerce.number<number>().int().min(1).max(1000).default(100).describe("The newest that many, answered oldest first"),
  }),
  status: 200,
  result: z.object({
    entries: z.array(AuditEntry),
    hasMore: z.boolean().describe("Older entries fit the query too; ask again with `before` = the first id"),
  }),
  events: AuditEntry,
});
