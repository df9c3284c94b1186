import type { ErrorCode } from "../../../shared/errors.js";
import type { PackageMetadata } from "../../../shared/package-metadata.js";
import type { ArchiveLimits } from "./archive-entry.js";
import type { ArchiveFormat } from "./unpack.js";

/** What the unpacking process is told on stdin, line by line: how many bytes of the archive are there, and this when all are. */
export const archiveIsWhole = "whole";

/** What the unpacking process is told, as JSON in its first argument. */
export interface UnpackJob {
  /** Deleted once it is unpacked. */
  readonly archivePath: string;
  readonly format: ArchiveFormat;
  /** An empty folder. */
  readonly folder: string;
  readonly limits: ArchiveLimits;
}

/** What the unpacking process says before it ends, as JSON on stdout. */
export type UnpackResult =
  | { readonly root: string; readonly metadata: PackageMetadata }
  | { readonly refusal: { readonly code: ErrorCode; readonly message: string } }
  | { readonly failure: { readonly code: "INSUFFICIENT_STORAGE" | "INTERNAL_ERROR"; readonly reason: string } };
