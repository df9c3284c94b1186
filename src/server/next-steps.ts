import type { Config } from "./config.js";
import type { Origins } from "./doors.js";

/** For whoever started the daemon at a terminal without a root key of their own: where the panel is, which key it takes, what comes next. */
export function nextSteps({ address, admin }: Origins, { panelHost, rootKeyFile }: Pick<Config, "panelHost" | "rootKeyFile">): string {
  const panel = panelHost ? panelHost.urlOf("/cpanel/", { scheme: "http", host: new URL(admin).host }) : `${admin}/cpanel/`;
  const file = rootKeyFile?.file ?? "";
  return `
runtimed serves at ${address}; Ctrl-C stops it.

  Control panel  ${panel}
  Root key       ${file} (show it: cat '${file}')
  Next           runtimectl auth login --url ${admin} --key-file '${file}'
                 runtimectl init hello && runtimectl deploy hello

`;
}
