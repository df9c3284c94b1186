import { useDashboard } from "../session/hooks.js";
import type { Overlay } from "./overlays.js";
import type { Session } from "../session/session.js";
import { Confirm } from "./confirm.js";
import { HelpOverlay } from "./help-overlay.js";
import { LinesOverlay } from "./lines-overlay.js";
import { NewKey } from "../keys/new-key.js";
import { PromptOverlay } from "./prompt-overlay.js";
import { Palette } from "../palette/palette.js";
import { SecretDialog } from "../keys/secret-dialog.js";
import { TransferOverlay } from "../files/transfer-overlay.js";
import { UploadOverlay } from "../upload/upload-overlay.js";

interface Props {
  readonly overlay: Overlay;
  readonly session: Session | undefined;
}

/** Shows the current overlay, which replaces the screen. */
export function OverlayView({ overlay, session }: Props) {
  const { overlays } = useDashboard();
  const onClose = () => overlays.close();
  if (overlay.kind === "help") return <HelpOverlay valid={overlay.valid} onClose={onClose} />;
  if (overlay.kind === "lines")
    return <LinesOverlay title={overlay.title} lines={overlay.lines} isWrapped={overlay.isWrapped} onClose={onClose} />;
  if (overlay.kind === "question") return <Confirm question={overlay.question} onAnswer={overlay.answer} />;
  if (overlay.kind === "reveal") return <SecretDialog secret={overlay.secret} about={overlay.about} onClose={onClose} />;
  if (overlay.kind === "prompt") return <PromptOverlay key={overlay.prompt.label} prompt={overlay.prompt} onClose={onClose} />;
  if (session === undefined) return null;
  if (overlay.kind === "transfer") return <TransferOverlay {...{ session, onClose }} transfer={overlay.transfer} />;
  if (overlay.kind === "upload") return <UploadOverlay session={session} onClose={onClose} />;
  if (overlay.kind === "newKey") return <NewKey session={session} onClose={onClose} />;
  return <Palette session={session} initial={overlay.initial ?? ""} onClose={onClose} />;
}
