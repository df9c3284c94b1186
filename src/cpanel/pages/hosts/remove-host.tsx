import { ConfirmByName } from "../../components/confirm-by-name.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { hostOperations } from "./host-operations.js";
import type { HostRow } from "../../../shared/host-rows.js";

interface RemoveHostProps {
  readonly row: HostRow;
  readonly onClose: () => void;
  readonly onRemoved: () => Promise<void>;
}

export function RemoveHost({ row: { host, worker }, onClose, onRemoved }: RemoveHostProps) {
  const api = useApi(hostOperations);
  const { toasts } = usePanel();
  const remove = async () => {
    await api.hosts.remove({ params: { host } });
    toasts.say(`The host name ${host} is removed.`);
    void onRemoved();
  };
  return (
    <ConfirmByName title={`Remove ${host}?`} name={host} action="Remove host name" onConfirm={remove} onClose={onClose}>
      Requests to {host} get an error from now on. {worker} stays installed and keeps its path.
    </ConfirmByName>
  );
}
