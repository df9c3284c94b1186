import { lazy, Suspense, useState } from "react";
import { DropOverlay } from "../components/drop-overlay.js";
import { usePrincipal } from "../session/use-principal.js";
import { offerIn, type Offer } from "../upload/offer.js";
import { usePanel } from "../use-panel.js";

/** The browser loads the code of the upload when the user drops the first package. */
const DroppedPackage = lazy(async () => ({ default: (await import("../commands/dropped-package.js")).DroppedPackage }));

/** Accepts an archive or a folder that the user drops on a page. Ignores the drop if the page has its own drop area. */
export function DropAnywhere() {
  const { toasts } = usePanel();
  const { permissions } = usePrincipal();
  const [offer, setOffer] = useState<Offer>();
  const mayInstall = permissions.includes("workers:install") || permissions.includes("plugins:install");
  const onDrop = (transfer: DataTransfer) => {
    if (!mayInstall) return toasts.say("This key may not install apps: that needs the permission workers:install.", { tone: "danger" });
    if (offer) return;
    const dropped = offerIn(transfer);
    if (dropped) setOffer(dropped);
    else toasts.say("Drop one archive (.tgz, .tar.gz, .zip) or one folder.", { tone: "danger" });
  };
  return (
    <>
      <DropOverlay onDrop={onDrop} isFallback>
        {mayInstall ? "Drop the archive or folder to see what is in it" : "This key may not install apps"}
      </DropOverlay>
      {offer && (
        <Suspense>
          <DroppedPackage offer={offer} onClose={() => setOffer(undefined)} />
        </Suspense>
      )}
    </>
  );
}
