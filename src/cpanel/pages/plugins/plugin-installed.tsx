import type { Plugin } from "../../../shared/contract/plugins.js";
import { InstalledButtons } from "../../upload/installed-buttons.js";
import type { Installed } from "../../upload/upload-target.js";
import { detailOf } from "./plugin-address.js";
import { PluginState, reasonOf } from "./plugin-state.js";

/** Shows whether a plugin was loaded after its installation. */
export function PluginInstalled({ name, known: plugin, onClose }: Installed<Plugin> & { readonly onClose: () => void }) {
  return (
    <>
      {plugin && (
        <p role="status">
          <PluginState plugin={plugin} /> {plugin.health.state === "ok" ? "It is loaded." : reasonOf(plugin)}
        </p>
      )}
      <InstalledButtons name={name} page={detailOf(name)} onClose={onClose} />
    </>
  );
}
