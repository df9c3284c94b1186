/** The static files beside a module, for `env.ASSETS` in its isolates. */
export interface AssetsOrder {
  /** Folder of the files, relative to the app's folder. */
  readonly directory: string;
  /** Content types by file extension, with its dot. */
  readonly types: Readonly<Record<string, string>>;
  /** Response to a request for a missing file: `index.html`, or `404.html` with status 404. Undefined: a short text with status 404. */
  readonly notFound: "spa" | "404" | undefined;
  /** The module, relative to `directory`. */
  readonly module: string;
  /** Name of the worker if the paths of its requests begin with its base path. */
  readonly nameInPaths: string | undefined;
  /** Folders below `directory` whose files never change. */
  readonly immutable: readonly string[];
  /** Response headers of the manifest, in lower case. */
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Files at the root of an assets folder that configure Cloudflare's server, or are code of the worker. */
const configurationFiles = /^_(?:worker\.js|routes\.json|headers|redirects)(?:\/|$)/;

/** Whether a file below an assets folder is code or configuration, which is never served: the module and the files of its subfolder. */
export function isExcludedAsset(file: string, { module }: Pick<AssetsOrder, "module">): boolean {
  const codeFolder = module.slice(0, module.lastIndexOf("/") + 1);
  return file === module || (codeFolder !== "" && file.startsWith(codeFolder)) || configurationFiles.test(file);
}
