import { ConfirmByName } from "../../components/confirm-by-name.js";
import { pluralize } from "../../components/pluralize.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { pluginOperations } from "./plugin-operations.js";
import type { PluginRow } from "./plugin-row.js";
import { pluginRemovalText } from "../../../shared/plugin-source.js";

interface DeletePluginProps {
  readonly row: PluginRow;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<void>;
}

export function DeletePlugin({ row: { plugin, neededBy }, onClose, onDeleted }: DeletePluginProps) {
  const api = useApi(pluginOperations);
  const { toasts } = usePanel();
  const { name, version } = plugin;
  const remove = async () => {
    await api.plugins.remove({ params: { name } });
    toasts.say(`The plugin ${name} is deleted.`);
    void onDeleted();
  };
  return (
    <ConfirmByName title={`Delete ${name}?`} name={name} action="Delete plugin" onConfirm={remove} onClose={onClose}>
      <p>
        This deletes {pluginRemovalText(plugin, `${name} ${version}`)} from the daemon&apos;s disk permanently. To stop the plugin for a
        while, disable it.
      </p>
      {neededBy.length > 0 && (
        <p>
          {pluralize(neededBy.length, "plugin")} cannot do without it and will not be loaded any more: {neededBy.join(", ")}.
        </p>
      )}
    </ConfirmByName>
  );
}
