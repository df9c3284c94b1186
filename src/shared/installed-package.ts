/** The fields of package.json that the search for installed packages uses. */
export interface InstalledPackage {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
  readonly peerDependenciesMeta?: Readonly<Record<string, { readonly optional?: boolean } | null>>;
}

/** Returns the package of a bare specifier. Undefined for paths and modules of runtimes, such as node:fs. */
export function packageNameOf(specifier: string): string | undefined {
  return /^(?:@[a-z0-9][\w.-]*\/)?[a-z0-9][\w.-]*(?=\/|$)/i.exec(specifier)?.[0];
}

/** Returns the content of a package.json. Undefined if it is not valid. */
export function parseInstalledPackage(text: string): InstalledPackage | undefined {
  try {
    const content: unknown = JSON.parse(text);
    return typeof content === "object" && content !== null ? content : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Returns the folders that can contain the package.json of a file's package, nearest first. Below node_modules, returns only the folder of
 * the installed package.
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
