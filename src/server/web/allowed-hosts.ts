import { hostNameOf, isHost } from "../../shared/host.js";

/** A name of any label below another one, such as `*.example.org`. */
const wildcard = "*.";

/** The hosts that requests may name (`RUNTIME_ALLOWED_HOSTS`): a web page that has its own name lead here (DNS rebinding) reaches nothing. */
export class AllowedHosts {
  readonly #names: ReadonlySet<string>;
  /** Each with its leading dot. */
  readonly #endings: readonly string[];

  private constructor(names: ReadonlySet<string>, endings: readonly string[]) {
    this.#names = names;
    this.#endings = endings;
  }

  /** Entries are names, addresses, and `*.` before a name; undefined when one is something else. */
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

  /** The names and addresses without those below a wildcard. */
  get exactNames(): ReadonlySet<string> {
    return this.#names;
  }

  /** Whether a Host header names one of them; its port does not count. */
  includes(host: string | undefined): boolean {
    if (!isHost(host)) return false;
    const name = hostNameOf(host);
    return this.#names.has(name) || this.#endings.some((ending) => name.endsWith(ending));
  }
}

/** An IPv6 address as a Host header has it. */
function bracketed(entry: string): string {
  return /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*$/i.test(entry) ? `[${entry}]` : entry;
}
