import type { UploadSource } from "../../shared/contract/endpoint.js";

/** The URL of a version, and the load error if it failed to load. */
export interface Located {
  readonly url: string;
  readonly trouble?: string | undefined;
}

/** The state of the package on the daemon, and the operations on it. */
export interface DeployTarget {
  /** The installed version with the same number, if any. */
  readonly existing: { readonly isEnabled: boolean; readonly digest: string | undefined } | undefined;
  /** The active version before the deployment. */
  readonly before: string | undefined;
  /** Why the current state cannot be restored after the upload. Undefined if it can. */
  readonly loss: string | undefined;
  /** Uploads the package. With `isChecked`, the daemon first loads a worker's code once and rejects the upload if that fails. */
  upload(source: UploadSource, options: { readonly isChecked: boolean }): Promise<void>;
  setEnabled(enabled: boolean): Promise<void>;
  /** Returns the URL. Warns if the version is not served, unless it is disabled on purpose (`isOff`). */
  locate(expected: { readonly isOff: boolean }): Promise<Located>;
  /** The command lines that disable and enable the version. */
  readonly lines: { readonly off: string; readonly on: string };
}
