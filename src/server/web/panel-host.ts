import { hostNameOf, isHost, portOf } from "../../shared/host.js";

/** Default ports, which browsers omit in a Host header. */
const usualPorts: ReadonlySet<string> = new Set(["80", "443"]);

/**
 * The host name of the panel and its session cookie (`RUNTIME_PANEL_HOST`). This host name serves no worker, because a browser sends
 * cookies to all ports of a host name. A worker on another port would receive the session.
 */
export class PanelHost {
  /** Host name in lower case. An IPv6 address has brackets. */
  readonly name: string;
  /** Port that the Host header must contain. If undefined, every port is accepted. */
  readonly #port: string | undefined;

  private constructor(name: string, port: string | undefined) {
    this.name = name;
    this.#port = port;
  }

  /** Parses a host name or address with an optional port. Returns undefined if the text is invalid. */
  static parse(text: string): PanelHost | undefined {
    if (!isHost(text)) return undefined;
    const port = portOf(text);
    return new PanelHost(hostNameOf(text), port === undefined || usualPorts.has(port) ? undefined : port);
  }

  /** Returns whether a Host header contains this host name and the configured port. */
  matches(host: string | undefined): boolean {
    return this.hasNameOf(host) && (this.#port === undefined || portOf(host as string) === this.#port);
  }

  /** Returns whether a Host header contains this host name, with any port. */
  hasNameOf(host: string | undefined): boolean {
    return isHost(host) && hostNameOf(host) === this.name;
  }

  /** Returns the URL of a path at this host. Uses the configured port, otherwise the port in the request's Host header. */
  urlOf(path: string, { scheme, host }: { readonly scheme: "http" | "https"; readonly host: string | undefined }): string {
    const port = this.#port ?? (isHost(host) ? portOf(host) : undefined);
    return `${scheme}://${this.name}${port === undefined ? "" : `:${port}`}${path}`;
  }
}
