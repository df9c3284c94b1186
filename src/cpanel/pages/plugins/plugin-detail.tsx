import { useState } from "react";
import { Button } from "../../components/button.js";
import { ErrorMessage } from "../../components/error-message.js";
import { Fact, Facts } from "../../components/facts.js";
import { AbsoluteTime } from "../../components/absolute-time.js";
import { PageHeading } from "../../components/page-heading.js";
import { PanelLink } from "../../router/panel-link.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { DeletePlugin } from "./delete-plugin.js";
import { OnePlugin } from "./one-plugin.js";
import { filesOf } from "./plugin-address.js";
import type { PluginRow } from "./plugin-row.js";
import { PluginSettings } from "./plugin-settings.js";
import { PluginState, reasonOf } from "./plugin-state.js";
import { PluginWork } from "./plugin-work.js";
import { usePluginActions } from "./use-plugin-actions.js";
import { usePlugins } from "./use-plugins.js";
import "./plugins.css";
import { pluginSourceText } from "../../../shared/plugin-source.js";

/** Shows one plugin: its state with the reason, its folder, and its routes and hooks. */
export function PluginDetail({ name }: { name: string }) {
  const plugins = usePlugins();
  const { rows, refresh } = plugins;
  const { router } = usePanel();
  const [mayInstall, mayRemove] = [useMay("plugins:install"), useMay("plugins:remove")];
  const pluginActions = usePluginActions(refresh);
  const [isDeleting, setDeleting] = useState(false);
  const row = rows.find(({ plugin }) => plugin.name === name);
  return (
    <>
      <PageHeading title={name} note={<PanelLink to="plugins">All plugins</PanelLink>}>
        {row && mayInstall && (
          <Button isPending={pluginActions.pending === name} onPress={() => void pluginActions.toggle(row.plugin)}>
            {row.plugin.enabled ? "Disable" : "Enable"}
          </Button>
        )}
        {row?.plugin.removable && mayRemove && <Button onPress={() => setDeleting(true)}>Delete</Button>}
      </PageHeading>
      {pluginActions.failure && <ErrorMessage {...pluginActions.failure} />}
      <OnePlugin name={name} plugins={plugins}>
        {(found) => <Detail key={found.plugin.name} row={found} rows={rows} onChanged={refresh} />}
      </OnePlugin>
      {row && isDeleting && (
        <DeletePlugin
          row={row}
          onClose={() => setDeleting(false)}
          onDeleted={async () => {
            router.go("plugins");
            await refresh();
          }}
        />
      )}
    </>
  );
}

function Detail({ row, rows, onChanged }: { row: PluginRow; rows: readonly PluginRow[]; onChanged: () => Promise<void> }) {
  const { plugin, loaded } = row;
  const reason = reasonOf(plugin);
  return (
    <>
      <div className="plugin-detail">
        <Facts label="Plugin">
          <Fact name="State">
            <PluginState plugin={plugin} /> <span>{reason}</span>
          </Fact>
          <Fact name="Version">{plugin.version}</Fact>
          <Fact name="Source">{pluginSourceText(plugin)}</Fact>
          <Fact name="Folder">
            <code>{plugin.path}</code> {plugin.removable && <PanelLink to={filesOf(plugin.name)}>Files</PanelLink>}
          </Fact>
          {plugin.deploy && (
            <Fact name="Deployed">
              <AbsoluteTime at={plugin.deploy.at} />
              {plugin.deploy.message !== undefined && `: ${plugin.deploy.message}`}
              {plugin.deploy.by !== undefined && <span className="quiet"> · Git user {plugin.deploy.by}</span>}
            </Fact>
          )}
        </Facts>
        {loaded && <PluginWork row={row} loaded={loaded} rows={rows} />}
      </div>
      <PluginSettings name={plugin.name} onChanged={onChanged} />
    </>
  );
}
