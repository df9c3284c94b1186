import type { ChosenVersion } from "./choose-version.js";
import type { UploadSource } from "../../shared/contract/endpoint.js";

/** The URL of a deployed version. If the version failed to load, also the error. */
export interface Located {
  readonly url: string;
  readonly trouble?: string | undefined;
}

/** The state of a package on the daemon before a deployment, and the operations that change this state. */
export interface DeployTarget {
  /** The installed version with the same version number. Undefined if no such version is installed. */
  readonly existing: { readonly isEnabled: boolean; readonly digest: string | undefined } | undefined;
  /** The version of the deployment. */
  readonly version: string;
  /** Origin of the version number. The version of a plugin is always from its manifest. */
  readonly versionOrigin: ChosenVersion["origin"];
  /** Content digest of the active version. Undefined if it is unknown. */
  readonly activeDigest: string | undefined;
  /** The active version before the deployment. */
  readonly before: string | undefined;
  /** The reason why the state before the upload cannot be restored. Undefined if a rollback is possible. */
  readonly loss: string | undefined;
  /** Returns the target for an installed version with the same content as the package. Used when `deploy` uploads nothing. */
  forInstalledVersion(): DeployTarget;
  /** Uploads the package. With `isChecked`, the daemon first loads the worker's code once and rejects the upload if loading fails. */
  upload(source: UploadSource, options: { readonly isChecked: boolean }): Promise<void>;
  setEnabled(enabled: boolean): Promise<void>;
  /** Returns the URL of the deployed version. Prints a warning if the daemon does not serve the version, unless `isOff` is set. */
  locate(expected: { readonly isOff: boolean }): Promise<Located>;
  /** The command lines that disable and enable the deployed version. */
  readonly lines: { readonly off: string; readonly on: string };
}
