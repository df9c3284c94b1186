import { useState, type ReactNode } from "react";
import { DropOverlay } from "../components/drop-overlay.js";
import { useMay } from "../session/use-principal.js";
import { usePanel } from "../use-panel.js";
import { offerIn, type Offer } from "./offer.js";
import { UploadDialog } from "./upload-dialog.js";
import type { UploadTarget } from "./upload-target.js";
import { OfferContext } from "./use-offer.js";
import "./upload.css";

/** While mounted, accepts an archive or a folder that is dropped anywhere on the page. */
export function DropArea<Known>({ target, children }: { target: UploadTarget<Known>; children: ReactNode }) {
  const { toasts } = usePanel();
  const { noun, permission } = target;
  const mayInstall = useMay(permission);
  const [offer, setOffer] = useState<Offer>();
  const onDrop = (transfer: DataTransfer) => {
    if (!mayInstall) return toasts.say(`This key may not install ${noun}s: that needs the permission ${permission}.`, { tone: "danger" });
    if (offer) return;
    const dropped = offerIn(transfer);
    if (dropped) setOffer(dropped);
    else toasts.say("Drop one archive (.tgz, .tar.gz, .zip) or one folder.", { tone: "danger" });
  };
  return (
    <OfferContext value={setOffer}>
      {children}
      <DropOverlay onDrop={onDrop}>
        {mayInstall ? "Drop the archive or folder to see what is in it" : `This key may not install ${noun}s`}
      </DropOverlay>
      {offer && <UploadDialog target={target} offer={offer} onClose={() => setOffer(undefined)} />}
    </OfferContext>
  );
}
