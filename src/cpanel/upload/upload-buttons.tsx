import type { Permission } from "../../shared/permissions.js";
import { FileTrigger } from "react-aria-components/FileTrigger";
import { Button } from "../components/button.js";
import { useMay } from "../session/use-principal.js";
import { chosenFolder } from "./dropped-folder.js";
import { useOffer } from "./use-offer.js";

/** Upload buttons, as an alternative to drag and drop. Hidden if the key lacks the permission. */
export function UploadButtons({ permission }: { permission: Permission }) {
  const offer = useOffer();
  if (!useMay(permission)) return null;
  const chooseArchive = (files: FileList | null) => files?.[0] && offer({ kind: "archive", file: files[0] });
  const chooseFolder = (files: FileList | null) => files?.[0] && offer({ kind: "folder", folder: chosenFolder([...files]) });
  return (
    <div className="upload-buttons">
      <FileTrigger acceptDirectory onSelect={chooseFolder}>
        <Button>Upload folder</Button>
      </FileTrigger>
      <FileTrigger acceptedFileTypes={[".tgz", ".tar.gz", ".gz", ".zip"]} onSelect={chooseArchive}>
        <Button kind="primary">Upload archive</Button>
      </FileTrigger>
    </div>
  );
}
