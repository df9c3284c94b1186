import * as z from "zod";
import { errorTable, type ErrorCode } from "../errors.js";
import { ChangePrincipal, ChangeSubject, changeTypes, typeListOf } from "./changes.js";
import { endpoint } from "./endpoint.js";
import { beforeQuery, beforeResult } from "./entry-position.js";
import { followQuery } from "./follow-query.js";
import { entryInstance, instanceQuery, listedInstances } from "./instances.js";
import { sinceQuery } from "./time-query.js";

const errorCodes = Object.keys(errorTable) as [ErrorCode, ...ErrorCode[]];

/** Actions of audit entries. If the daemon could not write entries, it later writes one entry `audit.skipped` in place of them. */
export const auditActions = [...changeTypes, "audit.skipped"] as const;

export const AuditEntry = z.object({
  id: z.int().describe("Grows with every entry of a daemon, also across restarts"),
  at: z.int().describe("Unix time in milliseconds"),
  action: z.enum(auditActions),
  outcome: z
    .enum(["done", "refused", "failed"])
    .describe("`refused`: rejected with 401 or 403; `failed`: any other error. Neither changed anything"),
  code: z.enum(errorCodes).optional().describe("The error code, unless the outcome is `done`"),
  principal: ChangePrincipal.optional().describe("The key that made the request; absent without a valid key"),
  clientAddress: z.string().describe("Address of the TCP connection; behind a proxy, the address of the proxy"),
  forwardedFor: z.string().optional().describe("The X-Forwarded-For header; trustworthy only if your proxy sets it"),
  requestId: z.string(),
  subject: ChangeSubject.optional(),
  skippedCount: z.int().optional().describe("For audit.skipped: number of entries that were not written"),
  instance: entryInstance,
});
export type AuditEntry = z.output<typeof AuditEntry>;

/** Filter for entries of the audit log. */
export interface AuditFilter {
  /** Selects entries since this time, in Unix milliseconds. */
  readonly sinceMs?: number | undefined;
  /** Selects entries of the key with this id or name. */
  readonly principal?: string | undefined;
  readonly actions?: readonly string[] | undefined;
  /** Selects entries with an id lower than this id. */
  readonly before?: number | undefined;
  /** Maximum number of selected entries. If more entries match, the newest are selected. */
  readonly limit: number;
}

export const list = endpoint({
  method: "GET",
  path: "/audit",
  summary: "Read or stream the audit log: changes and rejected attempts, with key and address",
  access: "audit:read",
  asksInstances: true,
  query: z.object({
    ...sinceQuery,
    ...instanceQuery,
    action: typeListOf(auditActions).describe("Only these actions, separated by commas; `key` means all of `key.*`"),
    principal: z.string().min(1).max(100).optional().describe("Only actions of the key with this id or name"),
    ...beforeQuery,
    ...followQuery,
    limit: z.coerce
      .number<number>()
      .int()
      .min(1)
      .max(1000)
      .default(100)
      .describe("Maximum number of entries: returns the newest ones, in the order oldest first"),
  }),
  status: 200,
  result: z.object({
    entries: z.array(AuditEntry),
    hasMore: z.boolean().describe("Whether older entries match, or a daemon that runs did not respond"),
    before: beforeResult,
    instances: listedInstances,
  }),
  events: AuditEntry,
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});
