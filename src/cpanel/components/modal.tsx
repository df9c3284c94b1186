import { Dialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal as AriaModal, ModalOverlay } from "react-aria-components/Modal";
import type { ReactNode } from "react";
import "./modal.css";

export interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** Needs an answer: Escape closes it all the same, unless it `isHeld`. */
  readonly isAlert?: boolean;
  /** Neither Escape nor a click outside closes it. */
  readonly isHeld?: boolean;
  readonly children: ReactNode;
}

/** A dialog over everything else. Render it only while it is open; the focus goes back where it was. */
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
