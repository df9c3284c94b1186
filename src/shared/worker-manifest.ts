import * as z from "zod";
import { parseDurationMs } from "./duration.js";
import { normalHostName } from "./host-name.js";
import { isIsolatePermission, isolatePermissionForms } from "./isolate-permission.js";
import { networkTargetForms, parseNetworkTarget } from "./network-target.js";
import { parseSizeBytes } from "./size.js";

const durationMs = (fallback: string) =>
  z
    .union([z.string(), z.number()])
    .default(fallback)
    .transform(
      (value, context) =>
        parseDurationMs(value) ?? invalid(context, value, "a duration such as 500ms, 30s, 5m, 1h, 7d, or a number of seconds"),
    );

const sizeBytes = (fallback: string) =>
  z
    .union([z.string(), z.number()])
    .default(fallback)
    .transform(
      (value, context) => parseSizeBytes(value) ?? invalid(context, value, "a size such as 64kb, 10mb, 1gb, or a number of bytes"),
    );

function invalid(context: z.RefinementCtx, value: unknown, wanted: string): never {
  context.addIssue({ code: "custom", message: `${JSON.stringify(value)} is not ${wanted}`, input: value });
  return z.NEVER;
}

/** A path below the package folder: relative, forward slashes, no climbing. */
export const relativePath = z
  .string()
  .refine(
    (text) => text !== "" && !text.startsWith("/") && !text.includes("\\") && !text.includes("\0") && !text.split("/").includes(".."),
    "must be a path below the package folder",
  );

const headerName = /^[A-Za-z0-9-]{1,64}$/;
const headerValue = /^[\x20-\x7e]{1,4096}$/;

/** Paths below the base, as `*` and `**` patterns: for any method, or by method. */
export const publicRoutes = z.union([z.array(z.string()), z.record(z.string(), z.array(z.string()))]).default([]);

/**
 * What a worker's manifest may say beyond its name, version and `enabled`. All fields are optional; unknown ones are ignored.
 * Durations become milliseconds, sizes bytes.
 */
export const WorkerManifest = z.object({
  entrypoint: relativePath.optional().describe("The file that is served (HTML) or run (JavaScript, TypeScript)."),
  env: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .default({})
    .describe("Variables handed to the app as `env` and `process.env`."),
  envPrefix: z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (typeof value === "string" ? [value] : value))
    .default(["PUBLIC_", "VITE_"])
    .describe("Variables whose name starts so are also put into served pages when `injectBase` is on."),
  timeout: durationMs("30s").describe("How long a request may take until its answer starts, and between two pieces of it."),
  idleTimeout: durationMs("60s").describe("After how long without a request `onIdle` is called."),
  ttl: durationMs("10m").describe("How long an isolate without requests is kept; 0 = a fresh isolate for each request."),
  maxRequests: z.int().min(0).default(0).describe("After how many requests an isolate is replaced; 0 = never."),
  maxBodySize: sizeBytes("10mb").describe("The largest request body."),
  memory: sizeBytes("128mb").describe("The isolate's memory limit."),
  permissions: z
    .array(z.string().refine(isIsolatePermission, { error: (issue) => `${JSON.stringify(issue.input)} is not ${isolatePermissionForms}` }))
    .default([])
    .describe("What the isolate may do beyond reading its own folder and the network, as far as the operator allows it."),
  network: z
    .object({
      mode: z.enum(["none", "public", "all"]).optional(),
      allow: z
        .array(
          z.string().refine((text) => parseNetworkTarget(text) !== undefined, {
            error: (issue) => `${JSON.stringify(issue.input)} is not ${networkTargetForms}`,
          }),
        )
        .default([]),
    })
    .optional()
    .describe(
      "What the isolate may connect to, as far as the operator allows it: `mode` is `none`, `public` (no loopback, private or link-local address) or `all`; `allow` lists further ones, such as `db.internal:5432` or `unix:/run/redis.sock`.",
    ),
  instances: z
    .union([z.int().min(1).max(64), z.literal("auto")], "must be a whole number from 1 to 64, or auto")
    .default(1)
    .describe("How many isolates serve this worker; `auto` = as many as its load needs, up to the number of processor cores."),
  injectBase: z
    .union([z.boolean(), z.literal("relative")], "must be true, false or relative")
    .default(false)
    .describe(
      "Puts `<base href>` into HTML pages, so that relative links work below the worker's base path; `relative` = written as `../`, which also holds behind a proxy that adds to the path.",
    ),
  headers: z
    .record(
      z.string().regex(headerName, "must be the name of a header"),
      z.string().regex(headerValue, "must be one line of printable ASCII"),
    )
    .default({})
    .describe("Headers that the files of a static site are sent with."),
  immutable: z
    .array(relativePath)
    .default([])
    .describe("Folders of a static site whose files never change under their name: browsers keep them for a year without asking."),
  hosts: z
    .array(
      z.string().transform((text, context) => normalHostName(text) ?? invalid(context, text, "a DNS host name, such as shop.example.org")),
    )
    .default([])
    .describe("Host names that the worker wants; the operator adds them with `runtimectl hosts add`."),
  publicRoutes: publicRoutes.describe("Routes that plugins' request hooks leave alone."),
  visibility: z.enum(["public", "protected", "internal"]).default("public").describe("How file browsers show the worker."),
  cron: z
    .array(z.object({ schedule: z.string(), endpoint: z.string(), method: z.string().default("POST") }))
    .default([])
    .describe("Calls made on a schedule."),
});
export type WorkerManifest = z.output<typeof WorkerManifest>;
