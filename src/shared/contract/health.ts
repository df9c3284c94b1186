import * as z from "zod";
import { endpoint } from "./endpoint.js";

const health = <const Status extends string>(status: Status) =>
  z.object({ ok: z.boolean(), status: z.literal(status), version: z.string() });

export const overall = endpoint({
  method: "GET",
  path: "/health",
  summary: "Return whether the daemon is healthy",
  access: "public",
  status: 200,
  result: health("healthy"),
  errors: ["NOT_READY"],
});

export const HealthCheck = z.object({
  name: z
    .enum([
      "key-store",
      "key-replica",
      "worker-directory",
      "package-store",
      "secrets-key",
      "worker-data",
      "disk-space",
      "isolation:own-user",
      "isolation:landlock",
      "isolation:seccomp",
      "isolation:frozen-flags",
      "isolation:permission-model",
      "panel-origin",
      "plugin-uploads",
    ])
    .describe(
      "`package-store` reports an OCI registry that does not respond, and plugins that this daemon cannot load; `secrets-key` is the key that encrypts secrets of workers; `worker-data` reports full data folders; `disk-space` reports directories with little free space; `isolation:` is a layer that isolates workers; `panel-origin` and `plugin-uploads` report settings that let keys exceed their permissions",
    ),
  status: z.enum(["ok", "degraded", "failed"]).describe("degraded: the daemon serves with restrictions; failed: the daemon is not ready"),
  message: z
    .string()
    .optional()
    .describe("Description of the problem; for an isolation layer also of its effect, for `secrets-key` of the place of the key"),
  lagSeconds: z
    .number()
    .min(0)
    .nullable()
    .optional()
    .describe("For the replica: seconds since its last complete synchronization; null: never"),
});
export type HealthCheck = z.output<typeof HealthCheck>;

export const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  summary: "Return whether the daemon accepts requests",
  access: "public",
  seesCaller: true,
  query: z.object({
    verbose: z
      .enum(["0", "1"])
      .optional()
      .describe("`1`: include all checks, for keys with keys:read; if the daemon is not ready, in `error.details`"),
  }),
  status: 200,
  result: health("ready").extend({ checks: z.array(HealthCheck).optional() }),
  errors: ["NOT_READY"],
});

export const live = endpoint({
  method: "GET",
  path: "/health/live",
  summary: "Return that the process is alive, without disk access",
  access: "public",
  status: 200,
  result: health("live"),
});
