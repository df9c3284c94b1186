import type { LoadedPlugin } from "../../../shared/contract/plugins.js";
import { PanelLink } from "../../router/panel-link.js";
import { useServedAt } from "../../live/use-served-at.js";
import { isOwnPage, pageOf, type PluginMenu } from "./plugin-address.js";

interface PluginMenuLinkProps {
  readonly plugin: LoadedPlugin;
  readonly menu: PluginMenu;
  readonly className?: string;
  readonly isCurrent?: boolean;
}

/** Link to a menu entry of a plugin. The plugin's own pages open inside the panel, other addresses open in a new tab. */
export function PluginMenuLink({ plugin, menu, className, isCurrent = false }: PluginMenuLinkProps) {
  const servedAt = useServedAt();
  const look = className === undefined ? {} : { className };
  if (isOwnPage(plugin, menu))
    return (
      <PanelLink to={pageOf(plugin.name, menu)} {...look} {...(isCurrent ? { "aria-current": "page" } : {})}>
        {menu.title}
      </PanelLink>
    );
  return (
    <a href={servedAt + menu.path} target="_blank" rel="noopener noreferrer" {...look}>
      {menu.title} <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  );
}
