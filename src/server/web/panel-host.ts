import { hostNameOf, isHost, portOf } from "../../shared/host.js";

/** Ports that browsers leave out of a Host header. */
const usualPorts: ReadonlySet<string> = new Set(["80", "443"]);

/**
 * The host of operators (`RUNTIME_PANEL_HOST`): the panel and its session cookie are for it alone, and no worker answers there. Browsers
 * keep cookies by name and not by port, so a worker on another port of that name would be sent the session too.
 */
export class PanelHost {
  /** In lower case, an IPv6 address in brackets. */
  readonly name: string;
  /** undefined = any. */
  readonly #port: string | undefined;

  private constructor(name: string, port: string | undefined) {
    this.name = name;
    this.#port = port;
  }

  /** A name or address with an optional port; undefined for anything else. */
  static parse(text: string): PanelHost | undefined {
    if (!isHost(text)) return undefined;
    const port = portOf(text);
    return new PanelHost(hostNameOf(text), port === undefined || usualPorts.has(port) ? undefined : port);
  }

  /** Whether a Host header names it. */
  matches(host: string | undefined): boolean {
    return this.hasNameOf(host) && (this.#port === undefined || portOf(host as string) === this.#port);
  }

  /** Whether a Host header has its name, with whatever port. */
  hasNameOf(host: string | undefined): boolean {
    return isHost(host) && hostNameOf(host) === this.name;
  }

  /** Its URL for a path that was asked of another host; without a port of its own it is on that of the request. */
  urlOf(path: string, { scheme, host }: { readonly scheme: "http" | "https"; readonly host: string | undefined }): string {
    const port = this.#port ?? (isHost(host) ? portOf(host) : undefined);
    return `${scheme}://${this.name}${port === undefined ? "" : `:${port}`}${path}`;
  }
}
