import type { Installation } from "../../shared/installation.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { ArchiveFormat } from "./archive/unpack.js";

/** One version of a worker in a package store. */
export interface PackageRef {
  readonly name: string;
  readonly version: string;
}

/** An uploaded version that passed all checks. */
export interface Publication {
  readonly metadata: PackageMetadata;
  readonly installation: Installation | undefined;
  /** Another version of the same worker that this change disables. */
  readonly disables: PackageRef | undefined;
}

/** An uploaded archive between its arrival and its installation. */
export interface PackageUpload {
  /** Stores the archive and marks `folder`, which contains its unpacked files. Other daemons do not see the version yet. */
  send(folder: string): Promise<void>;
  /** Makes the version visible for all daemons of the store. Call it directly before the folder is installed. */
  publish(publication: Publication): Promise<void>;
  /** Deletes the daemon's own copy of the archive. Never throws. */
  discard(): Promise<void>;
}

/**
 * Decides which worker versions exist. A change of a version first changes the store, then the folders of this daemon. If the store rejects
 * a change, no folder has changed.
 */
export interface PackageStore {
  /** Called before the unpacker reads and deletes the archive. */
  receive(file: UploadedFile, format: ArchiveFormat): Promise<PackageUpload>;
  setEnabled(version: PackageRef, enabled: boolean): Promise<void>;
  remove(versions: readonly PackageRef[]): Promise<void>;
}
