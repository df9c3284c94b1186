import { hostNameOf, isHost, portOf } from "../../shared/host.js";

/** Default ports, which browsers omit in a Host header. */
const usualPorts: ReadonlySet<string> = new Set(["80", "443"]);

/**
 * The operators' host (`RUNTIME_PANEL_HOST`) for the panel and its session cookie; no worker is served there. Browsers ignore ports of
 * cookies, so a worker on another port of this name would receive the session.
 */
export class PanelHost {
  /** Lower-case name; an IPv6 address has brackets. */
  readonly name: string;
  /** Required port of the Host header; undefined: any. */
  readonly #port: string | undefined;

  private constructor(name: string, port: string | undefined) {
    this.name = name;
    this.#port = port;
  }

  /** Parses a name or address with an optional port; undefined when the text is invalid. */
  static parse(text: string): PanelHost | undefined {
    if (!isHost(text)) return undefined;
    const port = portOf(text);
    return new PanelHost(hostNameOf(text), port === undefined || usualPorts.has(port) ? undefined : port);
  }

  /** Whether a Host header names this host. */
  matches(host: string | undefined): boolean {
    return this.hasNameOf(host) && (this.#port === undefined || portOf(host as string) === this.#port);
  }

  /** Whether a Host header has this name, with any port. */
  hasNameOf(host: string | undefined): boolean {
    return isHost(host) && hostNameOf(host) === this.name;
  }

  /** Returns the URL of a path at this host. Without a configured port, uses the port of the request. */
  urlOf(path: string, { scheme, host }: { readonly scheme: "http" | "https"; readonly host: string | undefined }): string {
    const port = this.#port ?? (isHost(host) ? portOf(host) : undefined);
    return `${scheme}://${this.name}${port === undefined ? "" : `:${port}`}${path}`;
  }
}
