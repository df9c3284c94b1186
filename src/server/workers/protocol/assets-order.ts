/** Description of a worker's static files, from which an isolate serves `env.ASSETS`. */
export interface AssetsOrder {
  /** Folder that contains the static files, relative to the worker's folder. */
  readonly directory: string;
  /** Content type by file extension, such as `.html`. */
  readonly types: Readonly<Record<string, string>>;
  /**
   * Response to a request for a missing file. `spa`: `index.html`. `404`: `404.html` with status 404. Undefined: a short text with status
   * 404.
   */
  readonly notFound: "spa" | "404" | undefined;
  /** Path of the worker's module, relative to `directory`. */
  readonly module: string;
  /** The worker's name, if the paths of requests begin with the base path `/<name>`; otherwise undefined. */
  readonly nameInPaths: string | undefined;
  /** Folders below `directory` whose files never change. */
  readonly immutable: readonly string[];
  /** Response headers from the manifest, with lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Matches files at the root of an assets folder that are not served: Cloudflare's configuration files and the worker's code. */
const configurationFiles = /^_(?:worker\.js|routes\.json|headers|redirects)(?:\/|$)/;

/**
 * Returns whether a file in an assets folder is never served: the worker's module, files in the module's subfolder, and configuration
 * files.
 */
export function isExcludedAsset(file: string, { module }: Pick<AssetsOrder, "module">): boolean {
  const codeFolder = module.slice(0, module.lastIndexOf("/") + 1);
  return file === module || (codeFolder !== "" && file.startsWith(codeFolder)) || configurationFiles.test(file);
}
