/** Where an app answers, see `useServedAt`; of one version when it is named. */
export function appUrl(servedAt: string, name: string, version?: string): string {
  return `${servedAt}/${name}${version === undefined ? "" : `@${version}`}/`;
}
