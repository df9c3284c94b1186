/** The fields of package.json that list the packages which a package requires. */
export interface InstalledPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean } | null>>;
}

/** Returns the npm package name at the start of an import specifier. Undefined for a path and for a built-in module such as `node:fs`. */
export function packageNameOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}

/** Returns the parsed content of a package.json. Undefined if the text is not a JSON object. */
export function parseInstalledPackage(text: string): InstalledPackage | undefined {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the folders whose package.json can apply to the file, nearest first. For a file of an installed package in node_modules, returns
 * only the folder of this package.
 */
export function packageFolders(file: string): string[] {
  const installed = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+(?=[\\/])/.exec(file)?.[0];
  return installed === undefined ? foldersAbove(file) : [installed];
}

/** Returns the folders above an absolute path, nearest first. */
function foldersAbove(file: string): string[] {
  const end = Math.max(file.lastIndexOf("/"), file.lastIndexOf("\\"));
  return end <= 0 ? [] : [file.slice(0, end), ...foldersAbove(file.slice(0, end))];
}
