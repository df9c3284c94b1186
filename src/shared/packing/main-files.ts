/** What a package starts with; relative, with forward slashes. */
export interface MainFiles {
  /** Undefined when nothing in the folder can be served. */
  readonly entrypoint: string | undefined;
  /** A plugin's module; undefined when there is none, as beside a manifest for a built-in plugin. */
  readonly pluginEntry?: string | undefined;
}

/** The files that a package starts with. */
export function mainFiles({ entrypoint, pluginEntry }: MainFiles): string[] {
  return [entrypoint, pluginEntry].filter((file) => file !== undefined);
}

/** What is served when the manifest names nothing: the first of these that is there. `main` is that of package.json, normalised. */
export function usualEntrypoints(main: string | undefined): string[] {
  const mains = main === undefined ? [] : [main, `${main}.js`, `${main}.mjs`, `${main}.cjs`, `${main.replace(/\/$/, "")}/index.js`];
  return ["index.html", "index.js", "index.mjs", "index.ts", ...mains];
}
