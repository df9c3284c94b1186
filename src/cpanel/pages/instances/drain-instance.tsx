import type { Instance } from "../../../shared/contract/instances.js";
import { isLastReady } from "../../../shared/instance-list.js";
import { ConfirmByName } from "../../components/confirm-by-name.js";
import { useApi } from "../../live/use-api.js";
import { instanceOperations } from "./instance-operations.js";
import { useInstances } from "./use-instances.js";

interface DrainInstanceProps {
  readonly instance: Instance;
  /** Called after the daemon accepted the drain. */
  readonly onDrained: (instance: Instance) => Promise<void>;
  readonly onClose: () => void;
}

export function DrainInstance({ instance, onDrained, onClose }: DrainInstanceProps) {
  const api = useApi(instanceOperations);
  const { data = [] } = useInstances();
  const drain = async () => {
    await api.instances.drain({ params: { instance: instance.id } });
    void onDrained(instance);
  };
  return (
    <ConfirmByName title={`Drain ${instance.name}?`} name={instance.name} action="Drain instance" onConfirm={drain} onClose={onClose}>
      It reports that it is not ready, so that proxies send it no requests, and takes no cron jobs. It still serves the requests that it
      receives. The drain ends with its next start.
      {isLastReady(instance, data) && <strong> No other instance is ready.</strong>}
    </ConfirmByName>
  );
}
