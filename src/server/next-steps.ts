import type { PanelHost } from "./web/panel-host.js";
import type { Origins } from "./listeners.js";

/**
 * Returns the text that the terminal shows when the daemon is ready: the URL of the panel, the path of the root key file and the next
 * commands.
 */
export function nextSteps(
  { address, admin }: Origins,
  { panelHost, keyFile, next }: { panelHost: PanelHost | undefined; keyFile: string; next: readonly string[] },
): string {
  const panel = panelHost ? panelHost.urlOf("/cpanel/", { scheme: "http", host: new URL(admin).host }) : `${admin}/cpanel/`;
  return `
runtimed serves at ${address}; Ctrl-C stops it.

  Control panel  ${panel}
  Root key       ${keyFile} (show it: cat '${keyFile}')
  Next           ${next.join(`\n${" ".repeat(17)}`)}

`;
}
