import { useState, useEffect, useRef } from "react";
import { useDashboard } from "../session/hooks.js";
import { OneTimeSecret } from "../keys/one-time-secret.js";
import { runLine, type LineOutcome } from "./run-line.js";
import type { Session } from "../session/session.js";
import { keyPattern } from "../../command/secret-in-arguments.js";
import { LinesOverlay } from "../components/lines-overlay.js";
import { completed, completionsOf, useNames } from "./completions.js";
import { PromptLine } from "../components/prompt-line.js";
import { SafeText } from "../components/safe-text.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import type { Question } from "../components/overlays.js";
import { Confirm } from "../components/confirm.js";

interface PaletteProps {
  readonly session: Session;
  /** The text that the input contains when the palette opens. */
  readonly initial: string;
  readonly onClose: () => void;
}

/** The palette: an input for a runtimectl command line, which the dashboard then runs. Shows the output of the command. */
export function Palette({ session, initial, onClose }: PaletteProps) {
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

interface PaletteInputProps {
  readonly session: Session;
  readonly initial: string;
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

/**
 * Shows the input of the palette. The tab key completes commands, names, flags and paths. The keys up and down select earlier command
 * lines.
 */
function PaletteInput({ session, initial, onSubmit, onCancel }: PaletteInputProps) {
  const { history } = useDashboard();
  const [text, setText] = useState(initial);
  const [steps, setSteps] = useState(0);
  const [candidates, setCandidates] = useState<readonly string[]>([]);
  const names = useNames(text.trimStart().split(/\s/)[0] ?? "");
  const { workingDirectory } = session.context;
  // The effect depends on this joined text. It cannot depend on the array `names`, because each rendering creates a new array.
  const knownNames = names.join(" ");
  useEffect(() => {
    let isLatest = true;
    const search = async () => {
      const found = await completionsOf(text, { names: knownNames === "" ? [] : knownNames.split(" "), workingDirectory });
      if (isLatest) setCandidates(found);
    };
    void search();
    return () => {
      isLatest = false;
    };
  }, [text, knownNames, workingDirectory]);
  const takeKey = (key: string, typed: string, set: (text: string) => void): boolean => {
    if (key === "tab") {
      void completionsOf(typed, { names, workingDirectory }).then((found) => set(completed(typed, found)));
      return true;
    }
    if (key !== "up" && key !== "down") return false;
    const wanted = Math.max(0, key === "up" ? steps + 1 : steps - 1);
    const line = wanted === 0 ? "" : history.back(wanted);
    if (line === undefined) return true;
    setSteps(wanted);
    set(line);
    return true;
  };
  return (
    <>
      <PromptLine label="runtimectl" onChange={setText} onKey={takeKey} {...{ initial, onSubmit, onCancel }} />
      <SafeText dimColor>
        {candidates.length === 0 ? "enter runs the command · up: previous command" : `tab: ${candidates.slice(0, 12).join(" · ")}`}
      </SafeText>
    </>
  );
}

interface PaletteRunProps {
  readonly line: string;
  readonly session: Session;
  readonly onClose: () => void;
  readonly onDone: (outcome: LineOutcome) => void;
}

interface OpenQuestion {
  readonly question: Question;
  readonly answer: (agreed: boolean) => void;
}

/** Runs a command while the component is mounted. Confirmations of the command appear as overlays of the dashboard. */
function PaletteRun({ line, session, onClose, onDone }: PaletteRunProps) {
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

function Waiting({ line, onClose }: Pick<PaletteRunProps, "line" | "onClose">) {
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
