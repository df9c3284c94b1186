/** What the archive of a package is called. */
export function archiveName({ name, version }: { readonly name: string; readonly version: string }): string {
  return `${archiveStem(name)}-${version}.tgz`;
}

/** What the names of all archives of a package begin with. */
export function archiveStem(name: string): string {
  return name.replace("@", "").replace("/", "-");
}
