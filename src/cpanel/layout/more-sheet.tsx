import { useEffect, useEffectEvent, useRef, type ReactNode } from "react";
import { Modal } from "../components/modal.js";
import { useRoute } from "../router/use-route.js";

/** A sheet with the navigation entries that do not fit into the bottom bar of a narrow screen. Closes when the user selects an entry. */
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
