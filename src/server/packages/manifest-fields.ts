import type * as z from "zod";
import { ApiError } from "../../shared/api-error.js";

/** What a manifest's fields mean; throws `INVALID_PACKAGE_METADATA` that names those at fault. */
export function parseManifestFields<Schema extends z.ZodType>(schema: Schema, fields: Readonly<Record<string, unknown>>): z.output<Schema> {
  const parsed = schema.safeParse(fields);
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map((issue) => `${issue.path.join(".")}: ${issue.message}`);
  throw new ApiError("INVALID_PACKAGE_METADATA", `The package's manifest cannot be used. ${faults.slice(0, 5).join("; ")}.`, {
    details: faults.slice(0, 50),
  });
}
