// `runtimectl workers list` is what scripts repeat: there its answers are checked without zod, see scripts/ready-contracts.mjs.
import * as z from "zod/mini";
import { Deployment } from "../deployment.js";
import { Installation } from "../installation.js";
import { endpoint } from "./endpoint.js";

export const Worker = z.object({
  name: z.string(),
  path: z.string().check(z.describe("Folder of the worker on the server")),
  removable: z.boolean().check(z.describe("True only for uploaded workers")),
  source: z.enum(["built-in", "uploaded"]),
  versions: z.array(z.string()).check(z.describe("Installed versions, newest first")),
  disabledVersions: z.array(z.string()),
  deploys: z.optional(
    z.record(z.string(), Deployment).check(z.describe("By version: where those that were deployed by runtimectl come from")),
  ),
  installs: z.optional(
    z.record(z.string(), Installation).check(z.describe("By version: who installed those that were uploaded, and when")),
  ),
});
export type Worker = z.output<typeof Worker>;

export const list = endpoint({
  method: "GET",
  path: "/workers",
  summary: "List the installed workers that the key may see",
  access: "workers:read",
  status: 200,
  result: z.array(Worker),
});
