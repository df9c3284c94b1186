import { useEffect, useRef, useState } from "react";
import { useDashboard } from "../session/hooks.js";
import type { Transfer } from "../components/overlays.js";
import { progressText } from "../upload/progress-text.js";
import { reasonOf, type Session } from "../session/session.js";
import { Waiting } from "../components/waiting.js";

interface Props {
  readonly transfer: Transfer;
  readonly session: Session;
  readonly onClose: () => void;
}

/** Shows the progress of an upload or download. If the user closes the overlay, the transfer is canceled. */
export function TransferOverlay({ transfer, session, onClose }: Props) {
  const { overlays } = useDashboard();
  const [bytes, setBytes] = useState(0);
  const close = useRef(onClose);
  useEffect(() => {
    const end = new AbortController();
    let movedBytes = 0;
    const run = async () => {
      try {
        const text = await transfer.run((count) => {
          movedBytes += count;
          if (!end.signal.aborted) setBytes(movedBytes);
        }, end.signal);
        if (!end.signal.aborted) overlays.say("done", text);
      } catch (error) {
        if (!end.signal.aborted) overlays.say("failed", reasonOf(error));
      }
      session.live.refresh();
      if (!end.signal.aborted) close.current();
    };
    void run();
    return () => end.abort(new Error("cancelled"));
  }, [transfer, session, overlays]);
  const cancel = () => {
    overlays.say("note", transfer.cancelled(bytes));
    onClose();
  };
  return <Waiting text={`${transfer.label} ${progressText(bytes, transfer.totalBytes)}`} onCancel={cancel} />;
}
