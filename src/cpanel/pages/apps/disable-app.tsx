import type { InstalledVersion } from "../../../shared/worker-versions.js";
import { Button } from "../../components/button.js";
import { Modal } from "../../components/modal.js";
import type { App } from "./app.js";

interface DisableAppProps {
  readonly app: App;
  /** The only enabled version of the app. */
  readonly installed: InstalledVersion;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Asks before the only enabled version of an app is disabled. */
export function DisableApp({ app: { name }, installed: { version }, onConfirm, onClose }: DisableAppProps) {
  return (
    <Modal title={`Disable ${name} ${version}?`} onClose={onClose} isAlert>
      <p>It is the only enabled version. /{name}/ then responds with 404.</p>
      <div className="modal-buttons">
        <Button onPress={onClose} autoFocus>
          Cancel
        </Button>
        <Button kind="danger" onPress={onConfirm}>
          Disable version
        </Button>
      </div>
    </Modal>
  );
}
