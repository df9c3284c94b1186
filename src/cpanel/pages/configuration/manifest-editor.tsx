import { useMemo, useState } from "react";
import type { WorkerConfig } from "../../../shared/contract/configuration.js";
import { Button } from "../../components/button.js";
import { CodeEditor } from "../../editor/code-editor.js";
import { UnsavedDialog } from "../files/unsaved-dialog.js";
import { useUnsaved } from "../files/use-unsaved.js";
import { ConfigError } from "./config-error.js";
import { faultsOf } from "./config-faults.js";
import type { ConfigSave } from "./use-config-change.js";
import "./configuration.css";

interface ManifestEditorProps {
  readonly config: WorkerConfig;
  readonly save: ConfigSave;
  readonly onClose: () => void;
}

/** Editor for the text of a manifest. The daemon checks the text before it writes the file. */
export function ManifestEditor({ config: given, save, onClose }: ManifestEditorProps) {
  // The editor keeps the configuration with which the user opened it, because the etag must match the edited text.
  const [config] = useState(given);
  const before = config.yaml ?? "";
  const [text, setText] = useState(before);
  const isChanged = text !== before;
  const unsaved = useUnsaved(isChanged);
  const { error } = save;
  const faultyLines = useMemo(() => faultsOf(error).flatMap(({ line }) => line ?? []), [error]);
  const submit = async () => {
    if (await save.save(config, { yaml: text }, "manifest.yaml")) onClose();
  };
  return (
    <section className="card" aria-labelledby="manifest-editor">
      <h2 id="manifest-editor">Manifest</h2>
      <ConfigError save={save} fields={[]} />
      <CodeEditor fileName="manifest.yaml" label="Text of the manifest" text={text} onChange={setText} faultyLines={faultyLines} />
      <div className="modal-buttons">
        <Button
          isDisabled={save.isPending}
          onPress={() => {
            save.reset();
            onClose();
          }}
        >
          {isChanged ? "Discard changes" : "Close"}
        </Button>
        <Button kind="primary" isDisabled={!isChanged} isPending={save.isPending} onPress={() => void submit()}>
          Save manifest
        </Button>
      </div>
      {unsaved.isAsking && <UnsavedDialog name="The manifest" onStay={unsaved.stay} onDiscard={() => setText(before)} />}
    </section>
  );
}
