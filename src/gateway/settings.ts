import * as z from "zod";
import { trustedProxyProblem } from "./client-address.js";
import { originProblem } from "./origins.js";
import { patternProblem } from "./path-patterns.js";
import { describeIssues } from "./describe-issues.js";
import { duration, listOf, method, headerName, headerValue, section } from "./setting-types.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const yearMs = 365 * dayMs;

const name = z
  .string()
  .regex(/^[\w. -]{1,50}$/, "must be letters, digits, dashes, dots and spaces, 50 at most")
  .optional();
const paths = listOf(patternProblem).default([]);
const countedBy = z.enum(["client", "key", "path"], "is not client, key or path");

const RateLimit = section({
  name,
  by: z
    .union([countedBy, z.array(countedBy).min(1)], "is not client, key, path or a list of these")
    .default("client")
    .transform((by) => [by].flat()),
  keyHeader: headerName.optional(),
  paths,
  methods: z.array(method).default([]),
  limit: z.int("is not a whole number").min(1, "must be 1 or more").max(1e9, "must be 1000000000 at most"),
  window: duration({ fromMs: 1000, toMs: 7 * dayMs, range: "from 1s to 7d" }),
  block: duration({ fromMs: 1000, toMs: 7 * dayMs, range: "from 1s to 7d" }).optional(),
}).refine(({ keyHeader, by }) => keyHeader === undefined || by.includes("key"), {
  path: ["keyHeader"],
  message: "has no effect without by: key",
});

const Cors = section({
  name,
  paths,
  origins: listOf(originProblem).min(1, "must name an origin"),
  methods: z.array(method).min(1, "must name a method").default(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"]),
  allowedHeaders: z.array(z.union([headerName, z.literal("*")], "is not the name of a header")).default(["*"]),
  exposedHeaders: z.array(headerName).default([]),
  credentials: z.boolean().default(false),
  maxAge: duration({ fromMs: 0, toMs: dayMs, range: "up to 1d" }).optional(),
}).refine(({ credentials, origins }) => !credentials || !origins.includes("*"), {
  path: ["credentials"],
  message: "cannot be true for origins that include *: any page could act as its visitors; name the origins",
});

const StrictTransport = section({
  maxAge: duration({ fromMs: 0, toMs: 10 * yearMs, range: "up to 3650d" }).default(180 * dayMs),
  includeSubDomains: z.boolean().default(false),
  preload: z.boolean().default(false),
}).refine(({ preload, includeSubDomains, maxAge }) => !preload || (includeSubDomains && maxAge >= yearMs), {
  path: ["preload"],
  message: "needs includeSubDomains: true and a maxAge of 365d or more",
});

const SecurityHeaders = section({
  noSniff: z.boolean().default(true),
  referrerPolicy: z
    .union([z.literal(false), headerValue], "is not the value of a header, or false")
    .default("strict-origin-when-cross-origin"),
  frameOptions: z.union([z.literal(false), z.enum(["DENY", "SAMEORIGIN"])], "is not DENY, SAMEORIGIN or false").default("SAMEORIGIN"),
  frameAncestors: z
    .array(z.string().regex(/^[\x21-\x2b\x2d-\x3a\x3c-\x7e]+$/, "is not a source such as 'self' or https://example.com"))
    .min(1, "must name a source, such as 'none'")
    .optional(),
  strictTransportSecurity: z
    .union([z.boolean(), StrictTransport], "is not true, false or a map of settings")
    .default(false)
    .transform((value) => (value === true ? StrictTransport.parse({}) : value)),
  permissionsPolicy: headerValue.optional(),
  contentSecurityPolicy: headerValue.optional(),
  override: z.boolean().default(false),
});

const Settings = section({
  trustedProxies: listOf(trustedProxyProblem).default([]),
  rateLimits: z.array(RateLimit).max(50, "must be 50 rules at most").default([]),
  rateLimitHeaders: z.boolean().default(false),
  cors: z.array(Cors).max(50, "must be 50 rules at most").default([]),
  securityHeaders: z
    .union([z.boolean(), SecurityHeaders], "is not true, false or a map of settings")
    .default(false)
    .transform((value) => (value === true ? SecurityHeaders.parse({}) : value)),
})
  .refine(
    ({ securityHeaders, trustedProxies }) => !securityHeaders || !securityHeaders.strictTransportSecurity || trustedProxies.length > 0,
    {
      path: ["securityHeaders", "strictTransportSecurity"],
      message: "needs trustedProxies: only a trusted proxy can report that a client used https",
    },
  )
  .transform((settings) => ({
    ...settings,
    rateLimits: settings.rateLimits.map((rule, index) => ({ ...rule, block: rule.block ?? 0, name: rule.name ?? `rateLimits[${index}]` })),
    cors: settings.cors.map((rule, index) => ({ ...rule, name: rule.name ?? `cors[${index}]` })),
  }));

/** The validated settings of the gateway. Durations are in milliseconds. */
export type Settings = z.output<typeof Settings>;
export type RateLimitSettings = Settings["rateLimits"][number];
export type CorsSettings = Settings["cors"][number];
export type SecuritySettings = Exclude<Settings["securityHeaders"], false>;

/** Parses the gateway's settings in its manifest. Throws TypeError with each invalid setting and its allowed values. */
export function readSettings(config: unknown): Settings {
  const result = Settings.safeParse(config, { reportInput: true });
  if (result.success) return result.data;
  throw new TypeError(`invalid settings:\n${describeIssues(result.error.issues)}`);
}
