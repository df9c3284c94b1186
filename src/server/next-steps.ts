import type { PanelHost } from "./web/panel-host.js";
import type { Origins } from "./listeners.js";

/** What a person at a terminal reads when the daemon serves: where the panel is, which key it takes and how to show it, what comes next. */
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
