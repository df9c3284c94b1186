import { Dialog } from "react-aria-components/Dialog";
import { Heading } from "react-aria-components/Heading";
import { Modal as AriaModal, ModalOverlay } from "react-aria-components/Modal";
import type { ReactNode } from "react";
import "./modal.css";

export interface ModalProps {
  readonly title: string;
  readonly onClose: () => void;
  /** If true, a click outside the dialog does not close it. Escape still closes it, unless `isHeld` is true. */
  readonly isAlert?: boolean;
  /** If true, neither Escape nor a click outside the dialog closes it. */
  readonly isHeld?: boolean;
  /** Shape of the dialog: a box in the middle, a sheet at the bottom of a narrow screen, or a menu near the top. Default: `box`. */
  readonly look?: "box" | "sheet" | "menu";
  readonly children: ReactNode;
}

/** A modal dialog. Render the component only while the dialog is open. On unmount, the focus returns to the previously focused element. */
export function Modal({ title, onClose, isAlert = false, isHeld = false, look = "box", children }: ModalProps) {
  return (
    <ModalOverlay
      isOpen
      onOpenChange={(isOpen) => !isOpen && onClose()}
      isDismissable={!isAlert && !isHeld}
      isKeyboardDismissDisabled={isHeld}
      className={`modal-veil modal-veil-${look}`}
    >
      <AriaModal className={`modal modal-${look}`}>
        <Dialog role={isAlert ? "alertdialog" : "dialog"} className="modal-dialog">
          <Heading slot="title" level={2} className={look === "menu" ? "visually-hidden" : "modal-title"}>
            {title}
          </Heading>
          {children}
        </Dialog>
      </AriaModal>
    </ModalOverlay>
  );
}
