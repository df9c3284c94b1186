import * as z from "zod";
import { Deployment } from "../../shared/deployment.js";
import { Installation } from "../../shared/installation.js";
import { isPackageName, isPackageVersion } from "../../shared/package-name.js";
import { WorkerManifest } from "../../shared/worker-manifest.js";
import type { PackageRef, StoredVersion } from "../packages/package-store.js";

/** Kind of the records that contain worker versions. The key of a record is `name@version`. */
export const versionKind = "worker-version";

/** The JSON value of a record. Newer daemons can add fields, so unknown fields are accepted. */
const VersionValue = z.object({
  digest: z.string().regex(/^sha256:[0-9a-f]{64}$/),
  sizeBytes: z.int().min(1),
  format: z.enum(["tar", "zip"]),
  enabled: z.boolean(),
  fields: z.record(z.string(), z.unknown()),
  deployment: z.optional(Deployment),
  installation: z.optional(Installation),
});

/** A worker version in the index, with the revision of its record. */
export interface VersionRow extends StoredVersion {
  readonly sizeBytes: number;
  readonly revision: number;
}

export function keyOf({ name, version }: PackageRef): string {
  return `${name}@${version}`;
}

/** Returns the name and the version in the key of a record. A scoped name also contains an `@`, as its first character. */
export function refOf(key: string): PackageRef {
  const at = key.indexOf("@", 1);
  return { name: key.slice(0, at), version: key.slice(at + 1) };
}

/** Parses a record. Throws for a value that no daemon has written. */
export function parseRow(key: string, value: string, revision: number): VersionRow {
  const ref = refOf(key);
  // Checks the name and the version, because the daemon uses both as folder names.
  if (!isPackageName(ref.name) || !isPackageVersion(ref.version)) throw new Error("the key is not a package name and a version");
  return { ...ref, ...VersionValue.parse(JSON.parse(value)), revision };
}

/** Returns a row that `parseRow` has accepted before, without a second check. */
export function readRow(key: string, value: string, revision: number): VersionRow {
  return { ...refOf(key), ...(JSON.parse(value) as z.output<typeof VersionValue>), revision };
}

export function valueOf({ digest, sizeBytes, format, enabled, fields, deployment, installation }: Omit<VersionRow, "revision">): string {
  return JSON.stringify({ digest, sizeBytes, format, enabled, fields, deployment, installation });
}

/** Returns the fields of a manifest that the daemon uses. Omits all other fields, for example the dependencies in package.json. */
export function usedFields(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => name in WorkerManifest.shape));
}
