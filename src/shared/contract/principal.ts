import * as z from "zod";
import { permissions, roles } from "../permissions.js";

export const Role = z.enum(roles);
export const Permission = z.enum(permissions);
/** A point in time as Unix time in whole seconds. */
export const Timestamp = z.int().min(0).describe("Unix time in seconds");

export const Principal = z.object({
  id: z.int().describe("Key id; 0 for root"),
  name: z.string(),
  keyPrefix: z.string().describe("First characters of the key, safe to show"),
  role: Role,
  permissions: z.array(Permission),
  namespaces: z.array(z.string()).describe('`@scope` namespaces that the key may manage; ["*"] = all'),
  isRoot: z.literal(true).optional().describe("Present only for the root key"),
  expiresAt: Timestamp.optional(),
});
export type Principal = z.output<typeof Principal>;
