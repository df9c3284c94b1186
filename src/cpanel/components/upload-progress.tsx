import { formatSize } from "../../shared/size.js";
import { Button } from "./button.js";
import "./upload-progress.css";

export interface UploadProgressProps {
  readonly sentBytes: number;
  readonly sizeBytes: number;
  /** Text that is shown after the transfer while the daemon processes the upload, such as `The daemon unpacks and checks it`. */
  readonly afterwards: string;
  readonly onCancel: () => void;
}

/** Shows the progress of an upload. Screen readers announce the progress in steps of 10 %. */
export function UploadProgress({ sentBytes, sizeBytes, afterwards, onCancel }: UploadProgressProps) {
  const percent = sizeBytes === 0 ? 100 : Math.floor((sentBytes / sizeBytes) * 100);
  return (
    <>
      <progress className="upload-bar" max={100} value={percent} aria-label="Upload" />
      <p className="quiet" aria-hidden="true">
        {percent < 100 ? `${formatSize(sentBytes)} of ${formatSize(sizeBytes)}` : `Sent. ${afterwards}…`}
      </p>
      <p className="visually-hidden" role="status">
        {percent < 100 ? `${Math.floor(percent / 10) * 10} per cent sent` : `Sent. ${afterwards}`}
      </p>
      <div className="modal-buttons">
        <Button onPress={onCancel} autoFocus>
          Cancel upload
        </Button>
      </div>
    </>
  );
}
