import * as z from "zod";
import { permissions } from "../permissions.js";
import { endpoint } from "./endpoint.js";
import { successOf } from "./success.js";

/** Maximum number of missing revisions that a response lists. `missingCount` counts all of them. */
export const mostListedRevisions = 20;

/** Difference between the index of this daemon and a primary that lacks some of its revisions. */
export const Divergence = z.object({
  kind: z
    .enum(["restored", "emptied", "other-epoch"])
    .describe("restored: the primary has an older state; emptied: it has no tables; other-epoch: it has the data of another index"),
  missingCount: z.int().min(0).describe("Number of revisions that this daemon knows and the primary lacks"),
  missing: z
    .array(
      z.object({
        revision: z.int().min(1),
        changes: z
          .array(z.string())
          .describe('Keys, hosts, secrets, workers and plugins with this revision, such as `key 5 "deploys"` or `worker shop@1.0.0`'),
      }),
    )
    .describe(`The newest ${mostListedRevisions} missing revisions of which this daemon has rows, newest first`),
});
export type Divergence = z.output<typeof Divergence>;

export const ResyncMode = z
  .enum(["from-cache", "accept-primary"])
  .describe("from-cache: write the rows of this daemon to the primary; accept-primary: replace the rows of this daemon by the primary's");
export type ResyncMode = z.output<typeof ResyncMode>;

export const show = endpoint({
  method: "GET",
  path: "/index",
  summary: "Return whether the primary has all changes of this daemon; needs a key without namespace restriction",
  access: "keys:read",
  status: 200,
  result: z.object({
    mode: z.enum(["local", "sync"]).describe("sync: several daemons share keys, hosts, secrets and package rows through a primary"),
    problem: z.string().nullable().describe("The reason why the index cannot be changed; null: it can be changed"),
    divergence: Divergence.nullable(),
  }),
  errors: ["NAMESPACE_DENIED"],
});

export const resync = endpoint({
  method: "POST",
  path: "/index/resync",
  summary: "Decide which rows are valid after the primary lost changes; needs an admin key without namespace restriction",
  change: "index.resynced",
  access: permissions,
  body: z.strictObject({ mode: ResyncMode }),
  status: 200,
  result: successOf(
    z.object({
      mode: ResyncMode,
      keys: z.int().min(0).describe("Number of active keys afterwards"),
      records: z.int().min(0).describe("Number of hosts, secrets and package rows afterwards"),
    }),
  ),
  errors: ["NAMESPACE_DENIED", "INDEX_NOT_DIVERGED", "CHANGE_CONFLICT", "KEY_STORE_UNAVAILABLE"],
});
