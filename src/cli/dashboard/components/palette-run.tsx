import { useEffect, useRef, useState } from "react";
import { useDashboard } from "../hooks/use-dashboard.js";
import { useKeyScope } from "../hooks/use-key-scope.js";
import type { Question } from "../overlays.js";
import { runLine, type LineOutcome } from "../run-line.js";
import type { Session } from "../session.js";
import { Confirm } from "./confirm.js";
import { SafeText } from "./safe-text.js";

interface Props {
  readonly line: string;
  readonly session: Session;
  readonly onClose: () => void;
  readonly onDone: (outcome: LineOutcome) => void;
}

interface OpenQuestion {
  readonly question: Question;
  readonly answer: (agreed: boolean) => void;
}

/** A command while it runs. What it wants confirmed is asked as the dashboard asks. */
export function PaletteRun({ line, session, onClose, onDone }: Props) {
  const { context, isAccessible } = useDashboard();
  const [open, setOpen] = useState<OpenQuestion>();
  const done = useRef(onDone);
  useEffect(() => {
    const controller = new AbortController();
    const confirm = (question: Question) => new Promise<boolean>((answer) => setOpen({ question, answer }));
    const run = async () => {
      const outcome = await runLine(
        line,
        { ...session.context, terminal: context.terminal, confirm },
        { signal: controller.signal, isAccessible },
      );
      session.live.refresh();
      if (!controller.signal.aborted) done.current(outcome);
    };
    void run();
    return () => controller.abort();
  }, [line, session, context, isAccessible]);
  if (open === undefined) return <Waiting {...{ line, onClose }} />;
  const answer = (agreed: boolean) => {
    setOpen(undefined);
    open.answer(agreed);
  };
  return <Confirm question={open.question} onAnswer={answer} />;
}

function Waiting({ line, onClose }: Pick<Props, "line" | "onClose">) {
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      if (key === "esc") onClose();
      return true;
    },
  });
  return <SafeText>{`runtimectl ${line} … (esc stops waiting)`}</SafeText>;
}
