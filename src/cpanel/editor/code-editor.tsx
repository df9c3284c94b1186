import { useEffect, useEffectEvent, useRef, useState } from "react";
import { ErrorMessage } from "../components/error-message.js";
import { LoadingRows } from "../components/loading-rows.js";
import { useFillHeight } from "../components/use-fill-height.js";
import type { CodeEditorView } from "./code-editor-view.js";
import "./code-editor.css";

interface CodeEditorProps {
  /** Name of the file. Its extension selects the language of the highlighting. */
  readonly fileName: string;
  readonly label: string;
  readonly text: string;
  readonly onChange?: (text: string) => void;
  /** Lines with an error, from 1, which the editor marks. Must be the same list until the lines change. */
  readonly faultyLines?: readonly number[];
}

const noLines: readonly number[] = [];

/**
 * A text field for code. Without `onChange`, the field is read-only. The browser loads the code of the editor when the first editor
 * appears.
 */
export function CodeEditor({ fileName, label, text, onChange, faultyLines = noLines }: CodeEditorProps) {
  const host = useRef<HTMLDivElement>(null);
  useFillHeight(host);
  const [view, setView] = useState<CodeEditorView>();
  const [error, setError] = useState<unknown>();
  const changed = useEffectEvent((typed: string) => onChange?.(typed));
  const currentText = useEffectEvent(() => text);
  const isReadOnly = onChange === undefined;
  useEffect(() => {
    let opened: CodeEditorView | undefined;
    const end = new AbortController();
    const open = async () => {
      const { CodeEditorView: View } = await import("./code-editor-view.js");
      if (end.signal.aborted || !host.current) return;
      const options = { fileName, label, text: currentText(), isReadOnly, onChange: (typed: string) => changed(typed) };
      opened = await View.open(host.current, options);
      if (end.signal.aborted) opened.close();
      else setView(opened);
    };
    open().catch(setError);
    return () => {
      end.abort();
      opened?.close();
      setView(undefined);
    };
  }, [fileName, label, isReadOnly]);
  useEffect(() => view?.setText(text), [view, text]);
  useEffect(() => view?.markLines(faultyLines), [view, faultyLines]);
  return (
    <>
      {error !== undefined && <ErrorMessage title="The editor could not be loaded" error={error} />}
      {!view && error === undefined && <LoadingRows noun="line" />}
      <div ref={host} className={`code-editor${isReadOnly ? " code-editor-read" : ""}`} hidden={!view} />
      {!isReadOnly && <p className="quiet small">Tab indents. To leave the editor with the keyboard, press Escape, then Tab.</p>}
    </>
  );
}
