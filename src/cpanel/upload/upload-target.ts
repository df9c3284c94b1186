import type { ComponentType } from "react";
import type { Permission } from "../../shared/permissions.js";
import type { FilesToSend } from "../live/upload-transport.js";
import type { PackageInfo, PackageKind } from "./package-info.js";

/** The installed version, and the current state of the package. */
export interface Installed<Known> {
  readonly name: string;
  readonly version: string;
  readonly known: Known | undefined;
}

/** Upload target for one kind of package. `Known` describes an installed package of the kind. */
export interface UploadTarget<Known> {
  readonly kind: PackageKind;
  /** Singular noun, such as `app`. */
  readonly noun: string;
  /** Required permission. */
  readonly permission: Permission;
  /** Returns the installed package; undefined also if the key cannot see it. */
  readonly find: (name: string) => Promise<Known | undefined>;
  /** Sends an archive. Resolves when it is installed and the lists show it. */
  readonly install: (sent: Omit<FilesToSend, "field">) => Promise<{ readonly name: string; readonly version: string }>;
  /** Describes the effect of the installation on the installed package. */
  readonly effectOf: (facts: PackageInfo, known: Known | undefined) => string;
  /** Notes that are shown before the upload. */
  readonly notesOf: (facts: PackageInfo) => readonly string[];
  readonly Done: ComponentType<Installed<Known> & { readonly onClose: () => void }>;
}
