import type { ChosenVersion } from "./choose-version.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";

/** The URL of a deployed version. `trouble` is the error if the version failed to load. */
export interface Located {
  readonly url: string;
  readonly trouble?: string | undefined;
}

/** The state of a package on the daemon before a deployment, and the operations that change this state. */
export interface DeployTarget {
  /** State of the version that is already installed under this version number. Undefined if no such version is installed. */
  readonly existing: { readonly isEnabled: boolean; readonly digest: string | undefined } | undefined;
  /** The version number of the deployment. */
  readonly version: string;
  /** Source of the version number. For a plugin, the source is always the manifest. */
  readonly versionOrigin: ChosenVersion["origin"];
  /** Content digest of the active version. Undefined if no deployment recorded the digest. */
  readonly activeDigest: string | undefined;
  /** Version number of the version that was active before the deployment. */
  readonly before: string | undefined;
  /** The reason why a rollback to the state before the deployment is impossible. Undefined if a rollback is possible. */
  readonly loss: string | undefined;
  /** Instruction for the user to deploy the package as a version that is not installed and becomes active. */
  readonly newVersionHint: string;
  /** Returns the target for a deployment that uploads nothing, because an installed version has the same content as the package. */
  forInstalledVersion(): DeployTarget;
  /**
   * Uploads the package. If `isChecked` is true, the daemon first loads the worker's code once, and rejects the upload if loading fails.
   */
  upload(source: UploadSource, options: { readonly isChecked: boolean }): Promise<void>;
  setEnabled(enabled: boolean): Promise<void>;
  /**
   * Returns the URL of the deployed version. If the daemon does not serve the version, prints a warning. With `isOff`, the version is
   * disabled on purpose, so no warning is printed.
   */
  locate(expected: { readonly isOff: boolean }): Promise<Located>;
  /** The command lines with which the user disables and enables the deployed version. */
  readonly lines: { readonly off: string; readonly on: string };
}
