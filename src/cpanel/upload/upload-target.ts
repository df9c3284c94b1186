import type { ComponentType } from "react";
import type { Permission } from "../../shared/permissions.js";
import type { FilesToSend } from "../live/upload-transport.js";
import type { PackageInfo, PackageKind } from "./package-info.js";

/** Result of an upload: the installed version, and the package as the daemon lists it after the upload. */
export interface Installed<Known> {
  readonly name: string;
  readonly version: string;
  readonly known: Known | undefined;
}

/** Describes how packages of one kind are uploaded. `Known` is the type of an installed package of this kind. */
export interface UploadTarget<Known> {
  readonly kind: PackageKind;
  /** Singular noun for a package of this kind in messages, such as `app`. */
  readonly noun: string;
  /** Permission that is required for the upload. */
  readonly permission: Permission;
  /** Returns the installed package with a name. Undefined if no such package exists, or if the key is not allowed to read it. */
  readonly find: (name: string) => Promise<Known | undefined>;
  /** Uploads a package archive. Resolves when the package is installed and the lists in the panel show it. */
  readonly install: (sent: Omit<FilesToSend, "field">) => Promise<{ readonly name: string; readonly version: string }>;
  /** Returns a text that describes the effect of the upload on the installed package `known`. */
  readonly effectOf: (facts: PackageInfo, known: Known | undefined) => string;
  /** Returns notes about the package, which are shown before the upload. */
  readonly notesOf: (facts: PackageInfo) => readonly string[];
  readonly Done: ComponentType<Installed<Known> & { readonly onClose: () => void }>;
}
