// Uses zod/mini, which loads faster than zod, because scripts run `runtimectl workers list` often.
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
  localVersions: z.optional(
    z
      .array(z.string())
      .check(
        z.describe("With an OCI registry: versions that only this daemon has, because they were copied by hand or the index lost them"),
      ),
  ),
  disabledVersions: z.array(z.string()),
  deploys: z.optional(z.record(z.string(), Deployment).check(z.describe("By version: the deployment record, if deployed with runtimectl"))),
  installs: z.optional(z.record(z.string(), Installation).check(z.describe("By version: key, time and client of an uploaded version"))),
});
export type Worker = z.output<typeof Worker>;

export const list = endpoint({
  method: "GET",
  path: "/workers",
  summary: "List the installed workers that the key can see",
  access: "workers:read",
  status: 200,
  result: z.array(Worker),
});
