/** The entry files of a package: relative, with forward slashes. */
export interface MainFiles {
  /** Undefined if there is nothing to serve. */
  readonly entrypoint: string | undefined;
  /** The module of a plugin. Undefined for a manifest that only configures a built-in plugin. */
  readonly pluginEntry?: string | undefined;
  /** Folder of the static files beside a module, without a trailing slash. */
  readonly assetsDirectory?: string | undefined;
}

/** Returns the folder that a manifest's `assets` names. Undefined for a missing or invalid value. */
export function assetsDirectoryOf(assets: unknown): string | undefined {
  const directory = typeof assets === "object" && assets !== null && "directory" in assets ? assets.directory : assets;
  return typeof directory === "string" && directory !== "" ? directory.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "") : undefined;
}

/** Returns the entry files of a package. */
export function mainFiles({ entrypoint, pluginEntry }: MainFiles): string[] {
  return [entrypoint, pluginEntry].filter((file) => file !== undefined);
}

/** Returns the default entrypoints in search order. `main` is the normalized `main` of package.json. */
export function usualEntrypoints(main: string | undefined): string[] {
  const mains = main === undefined ? [] : [main, `${main}.js`, `${main}.mjs`, `${main}.cjs`, `${main.replace(/\/$/, "")}/index.js`];
  return ["index.html", "index.js", "index.mjs", "index.ts", ...mains];
}
