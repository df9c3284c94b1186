import type { Plugin } from "../../../shared/contract/plugins.js";
import { Button } from "../../components/button.js";
import { PanelLink } from "../../routing/panel-link.js";
import type { Installed } from "../../upload/upload-target.js";
import { detailOf } from "./plugin-address.js";
import { PluginState, reasonOf } from "./plugin-state.js";

/** Says whether a plugin that was just installed is at work. */
export function PluginInstalled({ name, known: plugin, onClose }: Installed<Plugin> & { readonly onClose: () => void }) {
  return (
    <>
      {plugin && (
        <p role="status">
          <PluginState plugin={plugin} /> {plugin.status === "loaded" ? "It is at work." : reasonOf(plugin)}
        </p>
      )}
      <div className="modal-buttons">
        <PanelLink to={detailOf(name)} className="upload-to-package" onClick={onClose}>
          Show {name}
        </PanelLink>
        <Button kind="primary" onPress={onClose} autoFocus>
          Close
        </Button>
      </div>
    </>
  );
}
