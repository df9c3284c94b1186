import { ApiError } from "../../shared/api-error.js";
import type { Deployment } from "../../shared/deployment.js";
import type { Installation } from "../../shared/installation.js";
import type { PackageMetadata } from "../../shared/package-metadata.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { FileChange } from "./files/mounts.js";
import type { PackageFolder } from "./files/package-folder.js";
import type { PluginFolder } from "./plugin-catalog.js";
import type { Transaction } from "./transactions/transaction.js";
import type { ArchiveFormat } from "./archive/unpack.js";

/** One version of a worker. */
export interface PackageRef {
  readonly name: string;
  readonly version: string;
}

/** A version in the index of a store. The daemon lists and resolves the version before it downloads the files. */
export interface StoredVersion extends PackageRef {
  /** SHA-256 of the archive, such as `sha256:` and 64 hexadecimal digits. */
  readonly digest: string;
  readonly format: ArchiveFormat;
  readonly enabled: boolean;
  /** Fields of the manifest and of package.json that the daemon uses. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly deployment?: Deployment | undefined;
  readonly installation?: Installation | undefined;
}

/** An uploaded version that passed all checks. */
export interface Publication {
  readonly metadata: PackageMetadata;
  readonly installation: Installation | undefined;
  /** If true, the store rejects the change with VERSION_EXISTS if the store already has this version, for example from another daemon. */
  readonly isNewOnly: boolean;
  /** Another version of the same worker that this change disables. */
  readonly disables: PackageRef | undefined;
}

/** An uploaded archive between its arrival and its installation. */
export interface PackageUpload {
  /** Stores the archive and returns its digest. Other daemons do not see the version yet. The directory store returns undefined. */
  send(): Promise<string | undefined>;
  /** Makes the version visible for all daemons of the store. Call it directly before the folder is installed. */
  publish(publication: Publication): Promise<void>;
  /** Deletes the daemon's own copy of the archive. Never throws. */
  discard(): Promise<void>;
}

/** Returns the error for an upload with `newOnly` of a version that is installed. */
export function versionExists(name: string, version: string): ApiError {
  return new ApiError(
    "VERSION_EXISTS",
    `${name} ${version} is already installed. Nothing was changed, because the upload was sent with newOnly=true, which does not replace a version.`,
  );
}

/** A change of one version in the index. */
export interface StoredChange extends PackageRef {
  /** True if another daemon made the change. */
  readonly isElsewhere: boolean;
  readonly type: "worker.installed" | "worker.enabled" | "worker.disabled" | "worker.version-deleted";
}

/**
 * Decides which worker versions exist. A change of a version first changes the store, then the folders of this daemon. If the store rejects
 * a change, no folder has changed.
 */
export interface PackageStore {
  /** Receives an uploaded archive. Must be called before the unpacker reads and deletes the archive. */
  receive(file: UploadedFile, format: ArchiveFormat): Promise<PackageUpload>;
  setEnabled(version: PackageRef, enabled: boolean): Promise<void>;
  remove(versions: readonly PackageRef[]): Promise<void>;
  /** The index of the package store. Undefined if the folders in the worker directories are the only record of the versions. */
  readonly index: PackageIndex | undefined;
  /** Ends all calls to the store. */
  close(): Promise<void>;
}

/** The versions that several daemons share, in memory. */
export interface PackageIndex {
  versionsOf(name: string): readonly StoredVersion[];
}

/** An uploaded plugin between its arrival and its installation. */
export interface PluginUpload {
  /** Stores the archive and returns its digest. Other daemons do not see the plugin yet. */
  send(): Promise<string>;
  /** Makes the plugin visible for all daemons of the store. Call it directly before the folder is installed. */
  publish(metadata: Pick<PackageMetadata, "name" | "enabled" | "fields">): Promise<void>;
  /** Deletes the daemon's own copy of the archive. Never throws. */
  discard(): Promise<void>;
}

/** The plugins that several daemons share. A change first changes the store, then the folders of this daemon. */
export interface PluginStore {
  /** Receives an uploaded archive. Must be called before the unpacker reads and deletes the archive. */
  receive(file: UploadedFile, format: ArchiveFormat): Promise<PluginUpload>;
  /**
   * Sends a staged plugin folder to the store as an archive, publishes the plugin for all daemons, and writes the digest of the archive to
   * the folder.
   */
  publishFolder(staged: Transaction, folder: string): Promise<void>;
  /** Returns the plugins whose files this daemon could not download, with the folders for the files and the reasons. */
  missing(): readonly PluginFolder[];
  setEnabled(name: string, enabled: boolean): Promise<void>;
  remove(name: string): Promise<void>;
  /** Returns whether the other daemons have the plugin, too. False for a folder that only this daemon has. */
  isShared(name: string): boolean;
  /** Like `changeFiles` of `StoredWorkers`. `isBuiltIn`: the change creates the manifest that overrides a built-in plugin. */
  changeFiles(packageFolders: readonly PackageFolder[], change: FileChange, isBuiltIn: boolean): Promise<"changed" | "removed" | "local">;
}
