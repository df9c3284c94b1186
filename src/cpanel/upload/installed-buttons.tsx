import { Button } from "../components/button.js";
import { PanelLink } from "../router/panel-link.js";

interface InstalledButtonsProps {
  readonly name: string;
  /** The page of the installed package. */
  readonly page: string;
  readonly onClose: () => void;
}

/** The buttons after an upload. */
export function InstalledButtons({ name, page, onClose }: InstalledButtonsProps) {
  return (
    <div className="modal-buttons">
      <PanelLink to={page} className="upload-to-package" onClick={onClose}>
        Show {name}
      </PanelLink>
      <Button kind="primary" onPress={onClose} autoFocus>
        Close
      </Button>
    </div>
  );
}
