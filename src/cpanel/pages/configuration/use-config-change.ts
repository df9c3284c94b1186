import { useState } from "react";
import type { ConfigChange, ConfigFault, WorkerConfig } from "../../../shared/contract/configuration.js";
import { useMutation } from "../../components/use-mutation.js";
import { usePanel } from "../../use-panel.js";
import { faultsOf } from "./config-faults.js";

/** A change of a configuration: new values of some fields, or the whole text of the manifest. */
export type ConfigEdit = Pick<ConfigChange, "set"> | Pick<ConfigChange, "yaml">;

interface ConfigChangeOptions {
  /** Name of the configured package, such as `shop 1.0.0`. */
  readonly subject: string;
  readonly change: (change: ConfigChange) => Promise<WorkerConfig>;
  /** Returns the edit that reverts `edit`. Undefined if the panel cannot revert it. */
  readonly undoOf: (before: WorkerConfig, edit: ConfigEdit) => ConfigEdit | undefined;
  readonly onChanged: () => Promise<void>;
}

export interface ConfigSave {
  readonly isPending: boolean;
  readonly error: unknown;
  readonly faults: readonly ConfigFault[];
  /**
   * Saves an edit unless another client has changed the configuration since `before` was read. `what` names the change, such as `timeout`.
   */
  readonly save: (before: WorkerConfig, edit: ConfigEdit, what: string) => Promise<boolean>;
  /** Removes the error of the last attempt. Callers run this method when the user starts another edit. */
  readonly reset: () => void;
}

/** Provides a function that changes a configuration. After the change, a message offers Undo. */
export function useConfigChange({ subject, change, undoOf, onChanged }: ConfigChangeOptions): ConfigSave {
  const { toasts } = usePanel();
  const { isPending, error, run } = useMutation();
  const [ignored, setIgnored] = useState<unknown>();
  const undo = async (etag: string, edit: ConfigEdit, what: string) => {
    try {
      await change({ etag, ...edit });
      toasts.say(`${what} of ${subject} is as before.`, { subject });
    } catch (thrown) {
      const reason = thrown instanceof Error ? thrown.message : "";
      toasts.say(`${what} of ${subject} could not be restored. ${reason}`, { subject, tone: "danger" });
    }
    await onChanged();
  };
  const save = (before: WorkerConfig, edit: ConfigEdit, what: string) =>
    run(async () => {
      try {
        const { etag } = await change({ etag: before.etag, ...edit });
        const back = undoOf(before, edit);
        const action = back && { label: "Undo", run: () => void undo(etag, back, what) };
        toasts.say(`${what} of ${subject} is saved.`, { subject, action });
      } finally {
        await onChanged();
      }
    });
  const shown = error === ignored ? undefined : error;
  return { isPending, error: shown, faults: faultsOf(shown), save, reset: () => setIgnored(error) };
}
