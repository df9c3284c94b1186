import * as z from "zod";
import { endpoint } from "./endpoint.js";

const health = <const Status extends string>(status: Status) =>
  z.object({ ok: z.boolean(), status: z.literal(status), version: z.string() });

export const overall = endpoint({
  method: "GET",
  path: "/health",
  summary: "Say whether the daemon is healthy",
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
      "isolation:own-user",
      "isolation:landlock",
      "isolation:seccomp",
      "isolation:frozen-flags",
      "isolation:permission-model",
      "panel-origin",
      "plugin-uploads",
    ])
    .describe(
      "`isolation:` is one of the layers between workers and the machine; `panel-origin` and `plugin-uploads` tell what the present keys can do beyond their permissions",
    ),
  status: z
    .enum(["ok", "degraded", "failed"])
    .describe("degraded: the daemon serves, and something cannot be done; failed: it is not ready"),
  message: z.string().optional().describe("What is wrong, in words; of a layer of isolation also what it does"),
  lagSeconds: z.number().min(0).nullable().optional().describe("Of the replica: since it had all that the primary has; null: it never had"),
});
export type HealthCheck = z.output<typeof HealthCheck>;

export const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  summary: "Say whether the daemon can take requests",
  access: "public",
  seesCaller: true,
  query: z.object({
    verbose: z
      .enum(["0", "1"])
      .optional()
      .describe("`1`: with what was looked at, for keys with keys:read; when the daemon is not ready, in `error.details`"),
  }),
  status: 200,
  result: health("ready").extend({ checks: z.array(HealthCheck).optional() }),
  errors: ["NOT_READY"],
});

export const live = endpoint({
  method: "GET",
  path: "/health/live",
  summary: "Say that the process is alive, without touching the disk",
  access: "public",
  status: 200,
  result: health("live"),
});
