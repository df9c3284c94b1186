import { hideCredentials } from "./hide-credentials.js";
import { normalHostName } from "../../shared/host-name.js";
import { isNamespace } from "../../shared/namespace.js";
import { PanelHost } from "../web/panel-host.js";
import { ConfigError } from "./config-error.js";
import { accepted, commaSeparated } from "./config-values.js";
import type { Config } from "./config.js";
import { AllowedHosts } from "../web/allowed-hosts.js";
import { readInstanceUrl } from "./instance.js";

/**
 * Returns the host name settings: for the panel, for workers, and for the requests that the daemon accepts. `value` returns the text of an
 * environment variable.
 */
export function readRequestHosts(
  value: (name: string) => string,
): Pick<Config, "panelHost" | "publicUrl" | "instanceUrl" | "allowedHosts" | "appDomain" | "hostSuffixes" | "ownHostNames"> {
  const panelHostText = value("RUNTIME_PANEL_HOST");
  const allowedHostsText = value("RUNTIME_ALLOWED_HOSTS");
  const panelHost =
    panelHostText === ""
      ? undefined
      : accepted(
          "RUNTIME_PANEL_HOST",
          panelHostText,
          "a host name with an optional port, such as panel.example.org",
          PanelHost.parse(panelHostText),
        );
  const publicUrl = publicUrlOf(value("RUNTIME_PUBLIC_URL"));
  const publicName = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  if (panelHost !== undefined && publicName === panelHost.name)
    throw new ConfigError(
      "RUNTIME_PANEL_HOST",
      panelHostText,
      "a host name other than that of RUNTIME_PUBLIC_URL, because browsers share cookies between all ports of a host name",
    );
  const entries = commaSeparated(allowedHostsText);
  const instanceUrl = readInstanceUrl(value("RUNTIME_INSTANCE_URL"));
  const instanceHost = instanceUrl === undefined ? undefined : new URL(instanceUrl).hostname;
  // Also accepts the host names in RUNTIME_PANEL_HOST, RUNTIME_PUBLIC_URL and RUNTIME_INSTANCE_URL.
  const named = [panelHost?.name, publicName, instanceHost].flatMap((name) => name ?? []);
  const allowedHosts =
    entries.length === 0
      ? undefined
      : accepted(
          "RUNTIME_ALLOWED_HOSTS",
          allowedHostsText,
          "a list, separated by commas, of host names without ports, addresses, and domains with the prefix *.",
          AllowedHosts.parse([...entries, ...named]),
        );
  const appDomainText = value("RUNTIME_APP_DOMAIN");
  const appDomain =
    appDomainText === ""
      ? undefined
      : accepted("RUNTIME_APP_DOMAIN", appDomainText, "a DNS name, such as apps.example.org", normalHostName(appDomainText));
  const ownHostNames = new Set([...named, ...(appDomain === undefined ? [] : [appDomain]), ...(allowedHosts?.exactNames ?? [])]);
  return {
    panelHost,
    publicUrl,
    instanceUrl,
    allowedHosts,
    appDomain,
    hostSuffixes: hostSuffixesOf(value("RUNTIME_HOST_SUFFIXES")),
    ownHostNames,
  };
}

/**
 * Host names that the keys of one namespace can assign to workers of this namespace: a single host name, or all host names below a domain.
 */
export interface HostSuffix {
  readonly namespace: string;
  /** A single host name. If the text begins with a dot, all host names that end with the text. */
  readonly suffix: string;
}

function hostSuffixesOf(text: string): readonly HostSuffix[] {
  const suffixes = commaSeparated(text).map((entry) => {
    const [, namespace = "", wildcard, name = ""] = /^(@[^=]+)=(\*\.)?(.+)$/.exec(entry) ?? [];
    const host = normalHostName(name);
    if (host === undefined || !isNamespace(namespace)) return undefined;
    return { namespace, suffix: wildcard === undefined ? host : `.${host}` };
  });
  return accepted(
    "RUNTIME_HOST_SUFFIXES",
    text,
    "a list, separated by commas, of entries such as @team=*.team.example.org or @team=shop.example.org",
    suffixes.every((suffix) => suffix !== undefined) ? suffixes : undefined,
  );
}

function publicUrlOf(text: string): string | undefined {
  if (text === "") return undefined;
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSound = url !== undefined && /^https?:$/.test(url.protocol) && url.href === url.origin + url.pathname;
  return accepted(
    "RUNTIME_PUBLIC_URL",
    hideCredentials(text),
    "an http or https URL without query and password",
    isSound ? url.href.replace(/\/$/, "") : undefined,
  );
}
