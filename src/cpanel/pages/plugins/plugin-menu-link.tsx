import type { LoadedPlugin } from "../../../shared/contract/plugins.js";
import { PanelLink } from "../../router/panel-link.js";
import { Icon } from "../../components/icon.js";
import { useServedAt } from "../../live/use-served-at.js";
import { isOwnPage, pageOf, type PluginMenu } from "./plugin-address.js";

interface PluginMenuLinkProps {
  readonly plugin: LoadedPlugin;
  readonly menu: PluginMenu;
  readonly className?: string;
  readonly isCurrent?: boolean;
  /** Whether an icon precedes the title, as in the navigation. */
  readonly hasIcon?: boolean;
}

/** Link to a menu entry of a plugin. The plugin's own pages open inside the panel, other addresses open in a new tab. */
export function PluginMenuLink({ plugin, menu, className, isCurrent = false, hasIcon = false }: PluginMenuLinkProps) {
  const servedAt = useServedAt();
  const title = hasIcon ? (
    <>
      <Icon name="page" />
      <span className="navigation-text">{menu.title}</span>
    </>
  ) : (
    menu.title
  );
  const look = className === undefined ? {} : { className };
  if (isOwnPage(plugin, menu))
    return (
      <PanelLink title={menu.title} to={pageOf(plugin.name, menu)} {...look} {...(isCurrent ? { "aria-current": "page" } : {})}>
        {title}
      </PanelLink>
    );
  return (
    <a title={menu.title} href={servedAt + menu.path} target="_blank" rel="noopener noreferrer" {...look}>
      {title} <span aria-hidden="true">↗</span>
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  );
}
