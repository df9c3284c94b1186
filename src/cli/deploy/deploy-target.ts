import type { UploadSource } from "../../shared/contract/endpoint.js";

/** Where a version answers, and why it does not take part, if it does not. */
export interface Located {
  readonly url: string;
  readonly trouble?: string | undefined;
}

/** What a daemon has of the package that is deployed, and what can be done with it. */
export interface DeployTarget {
  /** The same version, when it is there already. */
  readonly existing: { readonly isEnabled: boolean; readonly digest: string | undefined } | undefined;
  /** The version that was in force before. */
  readonly before: string | undefined;
  /** Why what is there now could not be brought back after the upload; undefined when nothing is lost by it. */
  readonly loss: string | undefined;
  /** The code of a worker that `isChecked` is loaded once first; nothing has changed when that fails. Plugins always are. */
  upload(source: UploadSource, options: { readonly isChecked: boolean }): Promise<void>;
  setEnabled(enabled: boolean): Promise<void>;
  /** Warns of what keeps the version from being served, but for being off where that is expected. */
  locate(expected: { readonly isOff: boolean }): Promise<Located>;
  /** The command lines that take the version out of service, and into it. */
  readonly lines: { readonly off: string; readonly on: string };
}
