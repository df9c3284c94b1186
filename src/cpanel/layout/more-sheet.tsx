import { useEffect, useEffectEvent, useRef, type ReactNode } from "react";
import { Modal } from "../components/modal.js";
import { useRoute } from "../router/use-route.js";

/** The entries of the navigation that do not fit into the bottom bar of a narrow screen. Closes after a navigation. */
export function MoreSheet({ onClose, children }: { onClose: () => void; children: ReactNode }) {
  const { visit } = useRoute();
  const opened = useRef(visit);
  const close = useEffectEvent(onClose);
  useEffect(() => {
    if (visit !== opened.current) close();
  }, [visit]);
  return (
    <Modal title="More" onClose={onClose} look="sheet">
      {children}
    </Modal>
  );
}
