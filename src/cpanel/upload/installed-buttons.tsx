import { Button } from "../components/button.js";
import { PanelLink } from "../router/panel-link.js";

interface InstalledButtonsProps {
  readonly name: string;
  /** Path of the panel page that shows the installed package, such as `apps/shop`. */
  readonly page: string;
  readonly onClose: () => void;
}

/** Buttons of the upload dialog after the installation: a link to the package, and Close. */
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
