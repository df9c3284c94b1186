const wildcardPattern = /^([a-z][a-z0-9+.-]*:\/\/)\*(\.[a-z0-9-]+(?:\.[a-z0-9-]+)*(?::\d{1,5})?)$/;
const originPattern = /^[a-z][a-z0-9+.-]*:\/\/[^\s/?#@*,"]+$/;
const subdomainsPattern = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/;

/** Returns the reason why a text is not a valid `origins` entry, or undefined for a valid entry. */
export function originProblem(text: string): string | undefined {
  if (text === "*" || text === "null") return undefined;
  if (wildcardPattern.test(text))
    return /^[^*]+\*\.[^.]*$/.test(text) && !text.includes("*.localhost")
      ? "allows a whole top-level domain: name a domain, such as https://*.example.com"
      : undefined;
  const isWeb = /^https?:/i.test(text) && URL.canParse(text) && !text.includes("*");
  if (isWeb) return new URL(text).origin === text ? undefined : `is not in the form that browsers send: write ${new URL(text).origin}`;
  return originPattern.test(text) ? undefined : "is not an origin such as https://example.com, https://*.example.com or *";
}

/**
 * The origins that one CORS rule allows. The entry `https://*.example.com` allows subdomains at any depth, but not `https://example.com`.
 */
export class Origins {
  readonly isAnybody: boolean;
  readonly #exact: ReadonlySet<string>;
  readonly #wildcards: readonly { readonly scheme: string; readonly domain: string }[];

  constructor(origins: readonly string[]) {
    this.isAnybody = origins.includes("*");
    this.#exact = new Set(origins);
    this.#wildcards = origins.flatMap((origin) => {
      const [, scheme, domain] = wildcardPattern.exec(origin) ?? [];
      return scheme === undefined || domain === undefined ? [] : [{ scheme, domain }];
    });
  }

  allows(origin: string): boolean {
    if (this.isAnybody || this.#exact.has(origin)) return true;
    return this.#wildcards.some(
      ({ scheme, domain }) =>
        origin.startsWith(scheme) &&
        origin.endsWith(domain) &&
        origin.length > scheme.length + domain.length &&
        subdomainsPattern.test(origin.slice(scheme.length, -domain.length)),
    );
  }
}
