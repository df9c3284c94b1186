/** The entry files of a package. Paths are relative to the package folder, with forward slashes. */
export interface MainFiles {
  /** The file to serve or run. Undefined if the package has no such file. */
  readonly entrypoint: string | undefined;
  /** The module of a plugin. Undefined for a worker, and for a manifest that only configures a built-in plugin. */
  readonly pluginEntry?: string | undefined;
  /** Folder with the static files of a worker module, without a trailing slash. */
  readonly assetsDirectory?: string | undefined;
}

/** Returns the folder that the `assets` field of a manifest names. Undefined for a missing or invalid value. */
export function assetsDirectoryOf(assets: unknown): string | undefined {
  const directory = typeof assets === "object" && assets !== null && "directory" in assets ? assets.directory : assets;
  return typeof directory === "string" && directory !== "" ? directory.replace(/^(?:\.\/)+/, "").replace(/\/+$/, "") : undefined;
}

/** Returns the existing entry files of a package: `entrypoint`, then `pluginEntry`. */
export function mainFiles({ entrypoint, pluginEntry }: MainFiles): string[] {
  return [entrypoint, pluginEntry].filter((file) => file !== undefined);
}

/** Returns the default entrypoints in search order. `main` is the normalized `main` field of package.json. */
export function usualEntrypoints(main: string | undefined): string[] {
  const mains = main === undefined ? [] : [main, `${main}.js`, `${main}.mjs`, `${main}.cjs`, `${main.replace(/\/$/, "")}/index.js`];
  return ["index.html", "index.js", "index.mjs", "index.ts", ...mains];
}
