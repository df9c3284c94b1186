import { Dialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal as AriaModal, ModalOverlay } from "react-aria-components/Modal";
import type { ReactNode } from "react";
import "./modal.css";

export interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Whether the dialog needs a decision: a click outside does not close it. Escape does, unless `isHeld`. */
  readonly isAlert?: boolean;
  /** True when neither Escape nor a click outside closes the dialog. */
  readonly isHeld?: boolean;
  readonly children: ReactNode;
}

/** A modal dialog. Render it only while it is open; on unmount the focus returns to the previous element. */
export function Modal({ title, onClose, isAlert = false, isHeld = false, children }: ModalProps) {
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isDismissable={!isAlert && !isHeld}
      isKeyboardDismissDisabled={isHeld}
      className="modal-veil"
    >
      <AriaModal className="modal">
        <Dialog role={isAlert ? "alertdialog" : "dialog"} className="modal-dialog">
          <Heading slot="title" level={2} className="modal-title">
            {title}
          </Heading>
          {children}
        </Dialog>
      </AriaModal>
    </ModalOverlay>
  );
}
