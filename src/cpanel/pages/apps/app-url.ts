/** Returns the URL of an app, or of one version. `servedAt` is the result of `useServedAt`. */
export function appUrl(servedAt: string, name: string, version?: string): string {
  return `${servedAt}/${name}${version === undefined ? "" : `@${version}`}/`;
}
