import { useState } from "react";
import { useDashboard } from "../hooks/use-dashboard.js";
import { OneTimeSecret } from "../one-time-secret.js";
import type { LineOutcome } from "../run-line.js";
import type { Session } from "../session.js";
import { keyPattern } from "../../command/secret-in-arguments.js";
import { LinesOverlay } from "./lines-overlay.js";
import { PaletteInput } from "./palette-input.js";
import { PaletteRun } from "./palette-run.js";

interface Props {
  readonly session: Session;
  /** What is typed already. */
  readonly initial: string;
  readonly onClose: () => void;
}

/** Runs a command line of runtimectl, and shows what it wrote. */
export function Palette({ session, initial, onClose }: Props) {
  const { overlays, history } = useDashboard();
  const [line, setLine] = useState<string>();
  const [outcome, setOutcome] = useState<LineOutcome>();
  const run = (text: string) => {
    if (text.trim() === "") return onClose();
    if (!keyPattern.test(text)) history.add(text.trim());
    setLine(text);
  };
  const show = (done: LineOutcome) => {
    const key = keyPattern.exec(done.lines.join("\n"))?.[0];
    if (key === undefined) return setOutcome(done);
    overlays.show({ kind: "reveal", secret: new OneTimeSecret(key), about: done.lines.map((text) => text.replaceAll(key, "(the key)")) });
  };
  if (line === undefined) return <PaletteInput {...{ session, initial }} onSubmit={run} onCancel={onClose} />;
  if (outcome === undefined) return <PaletteRun {...{ line, session, onClose }} onDone={show} />;
  return <LinesOverlay title={`runtimectl ${line} → ${outcome.exitCode}`} lines={outcome.lines} onClose={onClose} />;
}
