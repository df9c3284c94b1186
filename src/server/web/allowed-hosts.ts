import { hostNameOf, isHost } from "../../shared/host.js";

/** Prefix of an entry that matches all subdomains, such as `*.example.org`. */
const wildcard = "*.";

/**
 * The host names that requests can contain (`RUNTIME_ALLOWED_HOSTS`). Rejecting all other host names prevents DNS rebinding attacks of web
 * pages.
 */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** Domains of the wildcard entries, with a leading dot. */
  readonly #endings: readonly string[];

  private constructor(names: ReadonlySet<string>, endings: readonly string[]) {
    this.#names = names;
    this.#endings = endings;
  }

  /** Parses host names, addresses and names with a leading `*.`. Returns undefined if one of the entries is invalid. */
  static parse(entries: readonly string[]): AllowedHosts | undefined {
    const names = new Set<string>();
    const endings: string[] = [];
    for (const entry of entries) {
      const isEnding = entry.startsWith(wildcard);
      const host = isEnding ? entry.slice(wildcard.length) : bracketed(entry);
      if (!isHost(host) || /:\d+$/.test(host)) return undefined;
      if (isEnding) endings.push(`.${hostNameOf(host)}`);
      else names.add(hostNameOf(host));
    }
    return new AllowedHosts(names, endings);
  }

  /** The allowed host names and addresses, without wildcards. */
  get exactNames(): ReadonlySet<string> {
    return this.#names;
  }

  /** Returns whether a Host header contains an allowed host. Ignores the port. */
  includes(host: string | undefined): boolean {
    if (!isHost(host)) return false;
    const name = hostNameOf(host);
    return this.#names.has(name) || this.#endings.some((ending) => name.endsWith(ending));
  }
}

/** Adds brackets to an IPv6 address, as in a Host header. */
function bracketed(entry: string): string {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(entry) ? `[${entry}]` : entry;
}
