import type { IncomingHttpHeaders } from "node:http";
import type { Installation } from "../../shared/installation.js";
import { credentialsOf } from "../access/credentials.js";
import type { PanelHost } from "../web/panel-host.js";

/** What a caller came through: sessions are the panel's, and runtimectl names itself. */
export function channelOf(headers: IncomingHttpHeaders, panelHost: PanelHost | undefined): Installation["via"] {
  if (credentialsOf(headers, panelHost)[0]?.channel === "cookie") return "panel";
  return headers["user-agent"]?.startsWith("runtimectl/") ? "cli" : "api";
}
