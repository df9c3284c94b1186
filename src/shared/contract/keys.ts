import * as z from "zod";
import { parseDurationMs, parseLifetimeSeconds } from "../duration.js";
import { isNamespace } from "../namespace.js";
import { endpoint } from "./endpoint.js";
import { Permission, Role, Timestamp } from "./principal.js";
import { Success, successOf } from "./success.js";

export const ApiKey = z.object({
  id: z.int(),
  name: z.string(),
  keyPrefix: z.string().describe("First characters of the key; the secret itself is never listed"),
  role: Role,
  permissions: z.array(Permission),
  namespaces: z.array(z.string()),
  createdAt: Timestamp,
  lastUsedAt: Timestamp.optional().describe("Absent before the first use"),
  expiresAt: Timestamp.optional().describe("Absent if the key never expires"),
});
export type ApiKey = z.output<typeof ApiKey>;

const maximumKeyNameLength = 100;
const maximumNamespaces = 100;
/**
 * Pattern for key names. Excludes control characters and characters that change the writing direction, because terminals and web pages show
 * key names.
 */
const printableName = /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}]*$/u;

const CreateKey = z
  .object({
    name: z.string().trim().min(1, "must not be empty").max(maximumKeyNameLength).regex(printableName, "must be printable"),
    role: Role,
    expiresIn: z
      .string()
      .refine(
        (text) => text === "never" || parseLifetimeSeconds(text) !== undefined,
        "must be never, or a whole number of min, h, d, w, m (30 days) or y (365 days), at most 100 years",
      )
      .optional()
      .describe("`never` (default), `30min`, `12h`, `30d`, `2w`, `6m` (months), `1y`"),
    permissions: z.array(Permission).optional().describe("Only with the role custom"),
    namespaces: z
      .array(z.string().refine(isNamespace, "must be * or an @scope"))
      .min(1)
      .max(maximumNamespaces)
      .optional()
      .describe('Default ["*"]'),
  })
  .superRefine((body, context) => {
    if (body.role === "custom" && !body.permissions?.length)
      context.addIssue({
        code: "custom",
        path: ["permissions"],
        message: "the role custom needs permissions",
        params: { code: "MISSING_PERMISSIONS" },
      });
    if (body.role !== "custom" && body.permissions?.length)
      context.addIssue({
        code: "custom",
        path: ["permissions"],
        message: `the role ${body.role} has fixed permissions; use the role custom to choose permissions`,
      });
  });

const NewKey = z.object({
  id: z.int(),
  name: z.string(),
  key: z.string(),
  keyPrefix: z.string(),
  role: Role,
  permissions: z.array(Permission),
  namespaces: z.array(z.string()),
  createdAt: Timestamp,
  expiresAt: Timestamp.optional(),
});
export type NewKey = z.output<typeof NewKey>;

const KeyParams = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,15}$/, "must be a positive whole number")
    .transform(Number)
    .refine(Number.isSafeInteger, "is too large"),
});

const usualLifetimeDays = 90;

/**
 * Returns the default lifetime of a new key: 90 days, or fewer if the creating key expires earlier. No key can create a key that expires
 * later than itself. `expiresAt` and `nowSeconds` are Unix seconds.
 */
export function usualLifetime({ expiresAt = Infinity }: { readonly expiresAt?: number | undefined }, nowSeconds: number): string {
  const daysLeft = Math.floor((expiresAt - nowSeconds) / 86_400);
  return `${daysLeft >= 1 ? Math.min(usualLifetimeDays, daysLeft) : usualLifetimeDays}d`;
}

/** Default grace period, which is the time after a rotation in which the old key stays valid. */
export const defaultOverlap = "24h";
const maximumOverlapMs = 30 * 86_400_000;

/** Parses a grace period such as `24h`, `7d` or `0` to milliseconds. Returns undefined for an invalid text or for more than 30 days. */
export function parseOverlapMs(text: string): number | undefined {
  if (text === "0") return 0;
  const overlapMs = /^\d+$/.test(text) ? undefined : parseDurationMs(text);
  return overlapMs === undefined || overlapMs > maximumOverlapMs ? undefined : overlapMs;
}

const RotateKey = z.object({
  overlap: z
    .string()
    .refine((text) => parseOverlapMs(text) !== undefined, "must be 0, or a duration of at most 30 days, such as 30m, 24h or 7d")
    .default(defaultOverlap)
    .describe("Grace period of the old key, such as `24h` (default) or `7d`; `0`: the old key expires immediately"),
});

export const list = endpoint({
  method: "GET",
  path: "/keys",
  summary: "List the keys that are not revoked; a restricted key sees only keys of its namespaces",
  access: "keys:read",
  status: 200,
  result: z.object({ keys: z.array(ApiKey) }),
});

export const meta = endpoint({
  method: "GET",
  path: "/keys/meta",
  summary: "List the roles and permissions that a key can have",
  access: "keys:read",
  status: 200,
  result: z.object({ roles: z.array(Role), permissions: z.array(Permission), rolePermissions: z.record(Role, z.array(Permission)) }),
});

export const create = endpoint({
  method: "POST",
  path: "/keys",
  summary: "Create a key; only this response contains the secret",
  change: "key.created",
  access: "keys:create",
  body: CreateKey,
  inputErrors: {
    name: "INVALID_KEY_NAME",
    role: "INVALID_KEY_ROLE",
    permissions: "INVALID_PERMISSION",
    namespaces: "INVALID_NAMESPACE",
    expiresIn: "INVALID_EXPIRATION",
  },
  status: 201,
  returnsKey: true,
  result: successOf(NewKey),
  errors: ["MISSING_PERMISSIONS", "PERMISSION_ESCALATION", "KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED", "INSUFFICIENT_STORAGE"],
});

export const rotate = endpoint({
  method: "POST",
  path: "/keys/:id/rotate",
  summary: "Create a replacement of a key; the old key expires after the grace period",
  change: "key.rotated",
  access: ["keys:create", "keys:revoke"],
  params: KeyParams,
  body: RotateKey,
  inputErrors: { id: "INVALID_KEY_ID" },
  status: 201,
  returnsKey: true,
  result: successOf(NewKey.extend({ rotated: z.object({ id: z.int(), expiresAt: Timestamp.describe("Expiry of the old key") }) })),
  errors: [
    "KEY_SELF_REVOKE_FORBIDDEN",
    "KEY_NOT_FOUND",
    "PERMISSION_ESCALATION",
    "KEY_STORE_UNAVAILABLE",
    "INDEX_DIVERGED",
    "INSUFFICIENT_STORAGE",
  ],
});

export const revoke = endpoint({
  method: "DELETE",
  path: "/keys/:id",
  summary: "Revoke a key",
  change: "key.revoked",
  access: "keys:revoke",
  params: KeyParams,
  inputErrors: { id: "INVALID_KEY_ID" },
  status: 200,
  result: Success,
  errors: ["KEY_SELF_REVOKE_FORBIDDEN", "KEY_NOT_FOUND", "PERMISSION_ESCALATION", "KEY_STORE_UNAVAILABLE", "INDEX_DIVERGED"],
});
