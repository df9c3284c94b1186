import type { ApiKey } from "../../../shared/contract/keys.js";
import { ConfirmByName } from "../../components/confirm-by-name.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { keyOperations } from "./key-operations.js";

export function RevokeKey({ apiKey, onClose, onRevoked }: { apiKey: ApiKey; onClose: () => void; onRevoked: () => Promise<void> }) {
  const api = useApi(keyOperations);
  const { toasts } = usePanel();
  const revoke = async () => {
    await api.keys.revoke({ params: { id: String(apiKey.id) } });
    toasts.say(`The key ${apiKey.name} is revoked.`);
    void onRevoked();
  };
  return (
    <ConfirmByName title={`Revoke ${apiKey.name}?`} name={apiKey.name} action="Revoke key" onConfirm={revoke} onClose={onClose}>
      Requests with this key ({apiKey.keyPrefix}…, {apiKey.role}) are rejected from now on. This cannot be undone. To give its users time,
      rotate the key instead.
    </ConfirmByName>
  );
}
