import { lazy, Suspense, useState, type ReactNode } from "react";
import type { Instance } from "../../../shared/contract/instances.js";
import { useMutation } from "../../components/use-mutation.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { instanceOperations } from "./instance-operations.js";

/** Loaded when the user first opens the dialog. The command menu of every page uses this file, so each page would load a static import. */
const DrainInstance = lazy(async () => ({ default: (await import("./drain-instance.js")).DrainInstance }));

export interface InstanceActions {
  readonly isPending: boolean;
  readonly error: unknown;
  /** Removes the error of the last action. */
  readonly dismiss: () => void;
  /** Opens the dialog that asks for confirmation. After the confirmation, the daemon reports that it is not ready. */
  readonly drain: (instance: Instance) => void;
  readonly endDrain: (instance: Instance) => void;
  /** The open dialog. The component that uses the actions renders it. */
  readonly dialog: ReactNode;
}

/** Provides the actions on daemons. After the start of a drain, the message offers Undo. */
export function useInstanceActions(refresh: () => Promise<void>): InstanceActions {
  const api = useApi(instanceOperations);
  const { toasts } = usePanel();
  const { isPending, error, dismiss, run } = useMutation();
  const [asked, setAsked] = useState<Instance>();
  const endDrain = ({ id, name }: Pick<Instance, "id" | "name">) =>
    void run(async () => {
      await api.instances.undrain({ params: { instance: id } });
      toasts.say(`The drain of ${name} has ended.`, { subject: id });
      await refresh();
    });
  const onDrained = async (instance: Instance) => {
    const undo = { label: "Undo", run: () => endDrain(instance) };
    toasts.say(`${instance.name} reports that it is not ready, and still serves.`, { subject: instance.id, action: undo });
    await refresh();
  };
  return {
    isPending,
    error,
    dismiss,
    drain: setAsked,
    endDrain,
    dialog: asked && (
      <Suspense>
        <DrainInstance instance={asked} onDrained={onDrained} onClose={() => setAsked(undefined)} />
      </Suspense>
    ),
  };
}
