import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { LoadingRows } from "../../components/loading-rows.js";
import { ResourceDetail } from "../../components/resource-detail.js";
import { PageHeading } from "../../components/page-heading.js";
import { EmptyState } from "../../components/empty-state.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useServedAt } from "../../live/use-served-at.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import type { FrameRefusal } from "./frame-check.js";
import { detailOf, isOwnPage, type PluginMenu } from "./plugin-address.js";
import { pluginOperations } from "./plugin-operations.js";
import { useFrameCheck } from "./use-frame-check.js";
import "./plugins.css";

/**
 * Sandbox permissions of the frame. Without `allow-same-origin`, the plugin's page and its pop-ups have an opaque origin: they cannot read
 * the panel, and their requests have no session cookie.
 */
const allowed = "allow-scripts allow-forms allow-downloads allow-popups";

const refusals: Readonly<Record<FrameRefusal, string>> = {
  absent: "The plugin serves nothing at this address. If the panel has its own listener, pages of plugins are on the other listener.",
  failed: "The plugin responded with an error. The daemon's log has details.",
  unframeable: "Its headers forbid frames, so it opens in a new tab.",
};

/** Shows a plugin's page in a frame inside the panel, if the plugin's menu contains the page. */
export function PluginPage({ name, path }: { name: string; path: string }) {
  const api = useApi(pluginOperations);
  const loaded = useResource("plugins.loaded", () => api.plugins.loaded(), { isWanted: useMay("plugins:read") });
  const plugin = loaded.data?.find((candidate) => candidate.name === name);
  const menu = plugin?.menus.find((candidate) => candidate.path === path && isOwnPage(plugin, candidate));
  const { daemonPath } = usePanel().paths;
  const servedAt = useServedAt();
  return (
    <>
      <PageHeading title={menu?.title ?? name} note={<PanelLink to={detailOf(name)}>{name}</PanelLink>}>
        {menu && (
          <a className="button button-plain plugin-page-open" href={servedAt + path} target="_blank" rel="noopener noreferrer">
            Open in a tab
          </a>
        )}
      </PageHeading>
      <ResourceDetail
        noun="plugin"
        permission="plugins:read"
        resource={loaded}
        one={menu}
        empty={
          <EmptyState title="No loaded plugin has this page">
            {name} was disabled or deleted, or it changed its menu. <PanelLink to="plugins">All plugins</PanelLink>
          </EmptyState>
        }
      >
        {(shown) => <Framed key={shown.path} menu={shown} url={daemonPath + shown.path} />}
      </ResourceDetail>
    </>
  );
}

function Framed({ menu, url }: { menu: PluginMenu; url: string }) {
  const { state, again } = useFrameCheck(url);
  if (state.phase === "asking") return <LoadingRows noun="page" />;
  const retry = <Button onPress={again}>Try again</Button>;
  if (state.phase === "unanswered")
    return (
      <ErrorMessage title="The page could not be requested" error={state.error}>
        {retry}
      </ErrorMessage>
    );
  if (state.refusal !== undefined)
    return (
      <EmptyState title={`${menu.title} cannot be shown here`} action={retry}>
        {refusals[state.refusal]}
      </EmptyState>
    );
  return <iframe className="plugin-frame" title={menu.title} src={url} sandbox={allowed} referrerPolicy="no-referrer" />;
}
