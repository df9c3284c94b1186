import { usageError } from "../command/command-error.js";
import type { Environment } from "./environment.js";
import type { ResolvedSetting } from "./settings.js";

/**
 * Returns the HTTP proxy that the environment variables select for an https origin. Undefined without a proxy. runtimectl always connects
 * directly to an http origin.
 */
export function chooseProxy(origin: string, environment: Environment): ResolvedSetting<string> | undefined {
  const { protocol, hostname, port } = new URL(origin);
  if (protocol !== "https:") return undefined;
  const name = environment.https_proxy === undefined ? "HTTPS_PROXY" : "https_proxy";
  const text = environment[name];
  if (text === undefined || isExempt({ hostname, port: port || "443" }, environment.no_proxy ?? environment.NO_PROXY ?? ""))
    return undefined;
  return { value: parseProxy(text, name), source: name };
}

/** Parses the URL of a proxy. Like curl, reads `proxy:3128` as `http://proxy:3128`. */
function parseProxy(text: string, source: string): string {
  const given = text.includes("://") ? text : `http://${text}`;
  const url = URL.canParse(given) ? new URL(given) : undefined;
  // The error message must not contain the URL, which can contain a password.
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "")
    throw usageError(
      `the value of ${source} is not the URL of a proxy, such as http://proxy.example:3128`,
      `unset ${source}, or add the daemon's host to NO_PROXY`,
    );
  return url.href;
}

/**
 * Whether NO_PROXY excludes the host from the proxy. Each entry is `*`, or a host name, which also excludes its subdomains. An entry can
 * contain a port.
 */
function isExempt({ hostname, port }: { hostname: string; port: string }, list: string): boolean {
  return list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((entry) => entry !== "")
    .some((entry) => {
      if (entry === "*") return true;
      const [, host = "", onlyPort] = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(entry) ?? ["", entry];
      const name = host.replace(/^\*?\./, "");
      return (
        (onlyPort === undefined || onlyPort === port) && (hostname === name || hostname === `[${name}]` || hostname.endsWith(`.${name}`))
      );
    });
}
