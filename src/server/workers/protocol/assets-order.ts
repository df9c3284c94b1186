/** Description of a worker's static files. An isolate needs it to serve `env.ASSETS`. */
export interface AssetsOrder {
  /** Folder that contains the static files, relative to the worker's folder. */
  readonly directory: string;
  /** Content type by file extension, such as `.html`. */
  readonly types: Readonly<Record<string, string>>;
  /**
   * Response for a missing file. With `spa`, it is `index.html`. With `404`, it is `404.html` with status 404. If undefined, it is a short
   * text with status 404.
   */
  readonly notFound: "spa" | "404" | undefined;
  /** Path of the worker's module, relative to `directory`. */
  readonly module: string;
  /** The worker's name if request paths begin with the base path `/<name>`. Undefined if the paths have no base path. */
  readonly nameInPaths: string | undefined;
  /** Folders below `directory` whose files never change. */
  readonly immutable: readonly string[];
  /** Response headers from the manifest, with lower-case names. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/**
 * Matches files at the root of an assets folder that the daemon does not serve: configuration files of Cloudflare, and the code of the
 * worker.
 */
const configurationFiles = /^_(?:worker\.js|routes\.json|headers|redirects)(?:\/|$)/;

/**
 * Returns true for a file of an assets folder that is never served: the worker's module, configuration files, and all files in the module's
 * subfolder.
 */
export function isExcludedAsset(file: string, { module }: Pick<AssetsOrder, "module">): boolean {
  const codeFolder = module.slice(0, module.lastIndexOf("/") + 1);
  return file === module || (codeFolder !== "" && file.startsWith(codeFolder)) || configurationFiles.test(file);
}
