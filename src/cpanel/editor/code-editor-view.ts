import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, StateEffect, StateField, type Extension } from "@codemirror/state";
import {
  Decoration,
  drawSelection,
  EditorView,
  type DecorationSet,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { editorTheme, highlighting } from "./editor-theme.js";
import { loadLanguage } from "./languages.js";

/** Marks the changes that the page itself makes. The editor does not report these changes back to the page. */
const byPage = Annotation.define<true>();

const markLines = StateEffect.define<readonly number[]>();
const faultyLine = Decoration.line({ class: "cm-faultyLine" });

/** The lines with an error. A mark stays at its line when the text changes. */
const faultyLines = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update: (marked, { changes, effects, state: { doc } }) => {
    const effect = effects.find((one) => one.is(markLines));
    if (!effect) return marked.map(changes);
    const lines = [...new Set(effect.value)].filter((line) => line >= 1 && line <= doc.lines);
    return Decoration.set(
      lines.map((line) => faultyLine.range(doc.line(line).from)),
      true,
    );
  },
  provide: (field) => EditorView.decorations.from(field),
});

/**
 * Replaces the selected text when the user types over it. Otherwise, Chromium copies the colors of the replaced text into `style`
 * attributes, which the content security policy blocks and reports.
 */
const replaceSelection = EditorView.domEventHandlers({
  beforeinput: (event, view) => {
    if (event.inputType !== "insertText" || event.isComposing || event.data === null || view.state.readOnly) return false;
    const { from, to } = selectedRange(view);
    if (from === to || view.state.selection.ranges.length > 1) return false;
    event.preventDefault();
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.replaceAll("\r", "").length },
      userEvent: "input.type",
      scrollIntoView: true,
    });
    return true;
  },
});

/** Returns the selection in the page. In Chromium, this selection can be newer than the selection in the editor's state. */
function selectedRange(view: EditorView): { readonly from: number; readonly to: number } {
  const { getSelection } = view.root as { readonly getSelection?: () => Selection | null };
  const selection = getSelection?.call(view.root);
  if (!selection?.anchorNode || !selection.focusNode || !view.contentDOM.contains(selection.anchorNode)) return view.state.selection.main;
  const anchor = view.posAtDOM(selection.anchorNode, selection.anchorOffset);
  const head = view.posAtDOM(selection.focusNode, selection.focusOffset);
  return { from: Math.min(anchor, head), to: Math.max(anchor, head) };
}

export interface CodeEditorOptions {
  /** Name of the file. Its extension selects the language of the highlighting. */
  readonly fileName: string;
  /** Name of the text field for screen readers. */
  readonly label: string;
  readonly text: string;
  readonly isReadOnly: boolean;
  readonly onChange: (text: string) => void;
}

/**
 * An editor with line numbers, highlighting and search. Runs in a shadow root, where CodeMirror adds its rules through
 * `adoptedStyleSheets`. In the document, CodeMirror would add a `<style>` element, which the content security policy blocks.
 */
export class CodeEditorView {
  readonly #view: EditorView;

  /** Loads the language of the file, then opens an editor in `host`. */
  static async open(host: HTMLElement, options: CodeEditorOptions): Promise<CodeEditorView> {
    return new CodeEditorView(host, await loadLanguage(options.fileName), options);
  }

  private constructor(host: HTMLElement, language: Extension, { label, text, isReadOnly, onChange }: CodeEditorOptions) {
    const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
    const state = EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        indentUnit.of("  "),
        bracketMatching(),
        highlightActiveLine(),
        highlightActiveLineGutter(),
        highlightSelectionMatches(),
        search({ top: true }),
        replaceSelection,
        faultyLines,
        keymap.of([...searchKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        language,
        syntaxHighlighting(highlighting),
        editorTheme,
        EditorState.readOnly.of(isReadOnly),
        EditorView.contentAttributes.of({ "aria-label": label, tabindex: "0" }),
        EditorView.updateListener.of(({ docChanged, state: changed, transactions }) => {
          if (docChanged && !transactions.some((transaction) => transaction.annotation(byPage))) onChange(changed.doc.toString());
        }),
      ],
    });
    this.#view = new EditorView({ state, parent: root, root });
  }

  /** Replaces the text, for example when the user discards the changes. The user can undo the replacement. */
  setText(text: string): void {
    const { doc } = this.#view.state;
    if (doc.toString() === text) return;
    this.#view.dispatch({ changes: { from: 0, to: doc.length, insert: text }, annotations: byPage.of(true) });
  }

  /** Marks the lines with an error, from 1, and scrolls to the first of them. Lines that do not exist are ignored. */
  markLines(lines: readonly number[]): void {
    const { doc } = this.#view.state;
    const [first] = lines;
    const isShown = first !== undefined && first >= 1 && first <= doc.lines;
    const scroll = isShown ? [EditorView.scrollIntoView(doc.line(first).from)] : [];
    this.#view.dispatch({ effects: [markLines.of(lines), ...scroll] });
  }

  close(): void {
    this.#view.destroy();
  }
}
