import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { bracketMatching, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Annotation, EditorState, type Extension } from "@codemirror/state";
import { drawSelection, EditorView, highlightActiveLine, highlightActiveLineGutter, keymap, lineNumbers } from "@codemirror/view";
import { editorTheme, highlighting } from "./editor-theme.js";
import { loadLanguage } from "./languages.js";

/** Marks the changes that the page itself makes. The editor does not report these changes back to the page. */
const byPage = Annotation.define<true>();

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

  close(): void {
    this.#view.destroy();
  }
}
