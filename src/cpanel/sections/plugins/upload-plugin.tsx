import { useState } from "react";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { Button } from "../../components/button.js";
import { ErrorNote } from "../../components/error-note.js";
import { Modal } from "../../components/modal.js";
import { useAttempt } from "../../components/use-attempt.js";
import { useApi } from "../../live/use-api.js";
import { usePanel } from "../../use-panel.js";
import { pluginOperations } from "./plugin-operations.js";

const extensions = [".tgz", ".tar.gz", ".gz", ".zip"];
const kilobyte = 1024;

/** Lets an archive be chosen, and asks before its code gets into the daemon. */
export function UploadPlugin({ onUploaded }: { onUploaded: () => Promise<void> }) {
  const [file, setFile] = useState<File>();
  return (
    <>
      <FileTrigger acceptedFileTypes={extensions} onSelect={(files) => setFile(files?.[0])}>
        <Button kind="primary">Upload plugin</Button>
      </FileTrigger>
      {file && <ConfirmUpload file={file} onClose={() => setFile(undefined)} onUploaded={onUploaded} />}
    </>
  );
}

interface ConfirmUploadProps {
  readonly file: File;
  readonly onClose: () => void;
  readonly onUploaded: () => Promise<void>;
}

function ConfirmUpload({ file, onClose, onUploaded }: ConfirmUploadProps) {
  const api = useApi(pluginOperations);
  const { toasts } = usePanel();
  const { isPending, error, run } = useAttempt();
  const upload = async () => {
    const isDone = await run(async () => {
      const { plugin } = (await api.plugins.upload({ file: { filename: file.name, sizeBytes: file.size, bytes: bytesOf(file) } })).data;
      const status = (await api.plugins.list()).find(({ name }) => name === plugin.name)?.status;
      const text = `${plugin.name} ${plugin.version} is installed`;
      if (status === "failed") toasts.say(`${text}, but could not be loaded: the list says why.`, { tone: "danger" });
      else toasts.say(`${text}.`);
      void onUploaded();
    });
    if (isDone) onClose();
  };
  return (
    <Modal title={`Upload ${file.name}?`} onClose={onClose} isAlert isHeld={isPending}>
      <p>
        {Math.ceil(file.size / kilobyte).toLocaleString("en-GB")} KB. A plugin runs inside the daemon, with all that the daemon may do:
        upload only what you trust as you trust the daemon. An installed plugin of the same name is replaced, and takes effect at once.
      </p>
      {error !== undefined && <ErrorNote title="Nothing was installed" error={error} />}
      <div className="modal-buttons">
        <Button onPress={onClose} isDisabled={isPending}>
          Cancel
        </Button>
        <Button kind="primary" autoFocus isPending={isPending} onPress={() => void upload()}>
          {isPending ? "Uploading…" : "Upload"}
        </Button>
      </div>
    </Modal>
  );
}

async function* bytesOf(file: File): AsyncGenerator<Uint8Array> {
  yield new Uint8Array(await file.arrayBuffer());
}
