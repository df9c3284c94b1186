/** Returns the URL of an app, see `useServedAt`, or of one version. */
export function appUrl(servedAt: string, name: string, version?: string): string {
  return `${servedAt}/${name}${version === undefined ? "" : `@${version}`}/`;
}
