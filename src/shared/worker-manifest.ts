import * as z from "zod";
import { parseDurationMs } from "./duration.js";
import { normalHostName } from "./host-name.js";
import { isIsolatePermission, isolatePermissionForms } from "./isolate-permission.js";
import { networkTargetForms, parseNetworkTarget } from "./network-target.js";
import { isSecretName, secretNameForm } from "./secret-name.js";
import { parseSizeBytes } from "./size.js";

/** Maximum number of isolates in the field `instances`. */
export const mostInstances = 64;

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

/** A path inside the package folder: relative, with forward slashes, without `..`. */
export const relativePath = z
  .string()
  .refine(
    (text) => text !== "" && !text.startsWith("/") && !text.includes("\\") && !text.includes("\0") && !text.split("/").includes(".."),
    "must be a path below the package folder",
  );

/**
 * Response to a request for a missing file. `404`: the page `404.html` of the site, with status 404. `spa`: the entry page, because a
 * script in the browser handles the path.
 */
const notFoundHandling = z
  .literal(["spa", "404", 404], "must be spa or 404")
  .transform((value): "spa" | "404" => (value === "spa" ? "spa" : "404"));

const assetsDirectory = relativePath.refine(
  (text) => /[^./]/.test(text),
  "must be a folder below the package folder, because all files in it are public",
);

/** Settings for static files that the daemon serves in addition to a worker module. */
const workerAssets = z
  .union(
    [
      assetsDirectory,
      z.object({ directory: assetsDirectory, workerFirst: z.boolean().default(false), notFound: notFoundHandling.optional() }),
    ],
    "must be a folder or { directory, workerFirst, notFound }",
  )
  .transform((assets) => (typeof assets === "string" ? { directory: assets, workerFirst: false, notFound: undefined } : assets));

const secretName = z
  .string()
  .refine(isSecretName, { error: (issue) => `${JSON.stringify(issue.input)} is not a valid name of a secret; use ${secretNameForm}` });

const headerName = /^[A-Za-z0-9-]{1,64}$/;
const headerValue = /^[\x20-\x7e]{1,4096}$/;

/**
 * Patterns with `*` and `**` for routes that the request hooks of plugins skip. Patterns are relative to the base path. A list applies to
 * all methods, and an object has one list per method.
 */
export const publicRoutes = z.union([z.array(z.string()), z.record(z.string(), z.array(z.string()))]).default([]);

/**
 * The fields of a worker manifest, except name, version and `enabled`. All fields are optional, and unknown fields are ignored. Durations
 * are parsed to milliseconds, and sizes to bytes.
 */
export const WorkerManifest = z.object({
  entrypoint: relativePath.optional().describe("The file to serve (HTML) or run (JavaScript, TypeScript)."),
  env: z
    .record(z.string(), z.union([z.string(), z.number(), z.boolean()]).transform(String))
    .default({})
    .describe("Variables of the worker, available as `env` and `process.env`."),
  secrets: z
    .array(
      z
        .union([secretName, z.object({ name: secretName, optional: z.boolean().default(false) })], "must be a name or { name, optional }")
        .transform((secret) => (typeof secret === "string" ? { name: secret, optional: false } : secret)),
    )
    .default([])
    .describe(
      "Secrets that the worker reads like variables, such as `[STRIPE_KEY, { name: DEBUG, optional: true }]`. The daemon accepts no version while a required one is not set.",
    ),
  envPrefix: z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (typeof value === "string" ? [value] : value))
    .default(["PUBLIC_", "VITE_"])
    .describe("Prefixes of variables that are also inserted into served pages if `injectBase` is enabled."),
  timeout: durationMs("30s").describe("Time limit until the response starts, and between two chunks of it."),
  idleTimeout: durationMs("60s").describe("Time without requests after which `onIdle` is called."),
  ttl: durationMs("10m").describe("Time without requests after which an isolate is stopped; 0 = a new isolate for each request."),
  maxRequests: z.int().min(0).default(0).describe("Number of requests after which an isolate is replaced; 0 = never."),
  maxBodySize: sizeBytes("10mb").describe("Maximum size of a request body."),
  memory: sizeBytes("128mb").describe("Memory limit of an isolate."),
  data: z
    .union(
      [z.string(), z.number(), z.object({ size: z.union([z.string(), z.number()]), scope: z.literal("instance") })],
      "must be a size such as 100mb, or { size, scope: instance }",
    )
    .transform((value, context) => {
      const size = typeof value === "object" ? value.size : value;
      return parseSizeBytes(size) || invalid(context, size, "a size above 0 such as 100mb, 1gb, or a number of bytes");
    })
    .optional()
    .describe(
      "Maximum size of the worker's data folder, `env.DATA_DIR`, which keeps its files across deploys; absent = no data folder. `{ size, scope: instance }`: each of several daemons has its own folder, which `RUNTIME_PACKAGE_STORE=oci:…` requires.",
    ),
  permissions: z
    .array(z.string().refine(isIsolatePermission, { error: (issue) => `${JSON.stringify(issue.input)} is not ${isolatePermissionForms}` }))
    .default([])
    .describe("Permissions of the isolate beyond reading its folder and network access, within the operator's limits."),
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
      "Allowed connections of the isolate, within the operator's limits: `mode` is `none`, `public` (no loopback, private or link-local address) or `all`; `allow` adds targets such as `db.internal:5432` or `unix:/run/redis.sock`.",
    ),
  instances: z
    .union([z.int().min(1).max(mostInstances), z.literal("auto")], `must be a whole number from 1 to ${mostInstances}, or auto`)
    .default(1)
    .describe("Number of isolates; `auto` = depends on the load, at most the number of processor cores."),
  injectBase: z
    .union([z.boolean(), z.enum(["relative", "rewrite"])], "must be true, false, relative or rewrite")
    .default(false)
    .describe(
      "Inserts `<base href>` into HTML pages, so that relative links work below the worker's base path; `relative` = in the form `../`, which also works behind a proxy that changes the path; `rewrite` = no `<base>`, but the base path before URLs in pages, scripts and style sheets that begin with `/` and name a file of the site, for builds that assume `/`.",
    ),
  path: z
    .enum(["below", "full"], "must be below or full")
    .default("below")
    .describe(
      "Path in the URL of a request: `below` = without the worker's base path; `full` = with it, for apps that have this path in their configuration.",
    ),
  assets: workerAssets
    .optional()
    .describe(
      "Folder of static files beside a module, such as `dist/client`. The daemon serves them like a static site, and the module all other requests. `{ directory, workerFirst, notFound }`: with `workerFirst: true` the module gets each request first and reads files by `env.ASSETS.fetch(request)`.",
    ),
  notFound: notFoundHandling
    .optional()
    .describe(
      "Response of a static site to a navigation to a missing path: `spa` = the entry page, `404` = its `404.html` with status 404; absent = `404.html` if it exists, else the entry page.",
    ),
  headers: z
    .record(
      z.string().regex(headerName, "must be the name of a header"),
      z.string().regex(headerValue, "must be one line of printable ASCII"),
    )
    .default({})
    .describe("Response headers for the files of a static site or of `assets`."),
  immutable: z
    .array(relativePath)
    .default([])
    .describe("Folders of a static site, or below `assets`, whose files never change: browsers cache them for 1 year."),
  hosts: z
    .array(
      z.string().transform((text, context) => normalHostName(text) ?? invalid(context, text, "a DNS host name, such as shop.example.org")),
    )
    .default([])
    .describe("Host names that the worker requests. The operator adds them with `runtimectl hosts add`."),
  check: z
    .string()
    .regex(/^\/[\x21-\x7e]*$/, "must be a path that begins with a slash")
    .optional()
    .describe(
      "Path that `deploy` requests before a new version is served: the status must be 200 to 399. Absent = `/`, with a status below 500.",
    ),
  accessLog: z.boolean().default(true).describe("Whether each served request is written to the worker's log."),
  publicRoutes: publicRoutes.describe("Routes that the request hooks of plugins skip."),
  visibility: z.enum(["public", "protected", "internal"]).default("public").describe("Visibility of the worker in file browsers."),
  cron: z
    .array(
      z.object({
        schedule: z.string(),
        endpoint: z.string(),
        method: z.string().default("POST"),
        on: z.enum(["one", "every"], "must be one or every").default("one"),
      }),
    )
    .default([])
    .describe("Scheduled requests. With several daemons, `on: one` runs each time on one of them, and `on: every` on each."),
});
export type WorkerManifest = z.output<typeof WorkerManifest>;

/**
 * The manifest of a plugin that also contains a worker. The worker's fields `secrets` and `data` are ignored, because a plugin uses these
 * names for its own settings.
 */
export const PluginAppManifest = WorkerManifest.extend({
  secrets: z
    .unknown()
    .default([])
    .transform((): WorkerManifest["secrets"] => []),
  data: z
    .unknown()
    .optional()
    .transform((): WorkerManifest["data"] => undefined),
});
