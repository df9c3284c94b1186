import { useEffect, useState } from "react";
import { Button } from "../components/button.js";
import { Modal } from "../components/modal.js";
import { useAppTarget } from "../pages/apps/use-app-target.js";
import { usePluginTarget } from "../pages/plugins/use-plugin-target.js";
import { usePrincipal } from "../session/use-principal.js";
import { createArchive } from "../upload/package-archive.js";
import type { Offer } from "../upload/offer.js";
import type { PackageKind } from "../upload/package-info.js";
import { UploadDialog } from "../upload/upload-dialog.js";

/** Reads a dropped package, then opens the upload dialog that matches its kind: app or plugin. */
export function DroppedPackage({ offer, onClose }: { offer: Offer; onClose: () => void }) {
  const app = useAppTarget();
  const plugin = usePluginTarget();
  const [kind, setKind] = useState<PackageKind>();
  useEffect(() => {
    const end = new AbortController();
    void kindOf(offer, end.signal).then((found) => !end.signal.aborted && setKind(found));
    return () => end.abort();
  }, [offer]);
  const { permissions } = usePrincipal();
  if (kind === undefined)
    return (
      <Modal title="Upload" onClose={onClose}>
        <p role="status">Reading the package…</p>
      </Modal>
    );
  const { noun, permission } = kind === "plugin" ? plugin : app;
  if (!permissions.includes(permission))
    return (
      <Modal title={`This key may not install ${noun}s`} onClose={onClose}>
        <p>
          Installing the {noun} needs the permission <code>{permission}</code>. Nothing was sent.
        </p>
        <div className="modal-buttons">
          <Button onPress={onClose} autoFocus>
            Close
          </Button>
        </div>
      </Modal>
    );
  return kind === "plugin" ? (
    <UploadDialog target={plugin} offer={offer} onClose={onClose} />
  ) : (
    <UploadDialog target={app} offer={offer} onClose={onClose} />
  );
}

/**
 * Returns `plugin` if the manifest has a field that only plugins have, or if the package has a plugin module and no file that serves
 * requests. Otherwise returns `worker`.
 */
async function kindOf(offer: Offer, signal: AbortSignal): Promise<PackageKind> {
  try {
    const { facts } = await createArchive(offer, "worker", signal);
    if (facts.isPlugin) return "plugin";
    if (facts.entrypoint !== undefined) return "worker";
    return (await createArchive(offer, "plugin", signal)).facts.pluginEntry === undefined ? "worker" : "plugin";
  } catch {
    // Ignores the error. The upload dialog reads the package again and shows the same error.
    return "worker";
  }
}
