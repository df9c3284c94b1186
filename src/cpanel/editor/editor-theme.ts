import { HighlightStyle } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

/**
 * Colors and sizes of the editor. The editor's shadow root inherits the design tokens of the panel, so the light and the dark theme both
 * apply.
 */
export const editorTheme = EditorView.theme({
  "&": {
    height: "100%",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    fontSize: "12px",
  },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  // While the user types, Chrome draws only a part of a ligature such as `//`. Needed until the panel requires Chrome 140, see fonts.css.
  ".cm-scroller": { fontFamily: "var(--mono)", fontVariantLigatures: "none", lineHeight: "20px", tabSize: "2" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { color: "var(--text-faint)", backgroundColor: "var(--surface)", borderRight: "1px solid var(--line)" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "color-mix(in srgb, var(--hover) 60%, transparent)" },
  ".cm-activeLineGutter": { color: "var(--text)", backgroundColor: "var(--hover)" },
  ".cm-faultyLine": { backgroundColor: "var(--bad-wash)", outline: "1px solid var(--bad)", outlineOffset: "-1px" },
  ".cm-selectionBackground, &.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground": {
    backgroundColor: "var(--pressed)",
  },
  ".cm-matchingBracket, &.cm-focused .cm-matchingBracket": { backgroundColor: "var(--pressed)", outline: "1px solid var(--line-strong)" },
  ".cm-nonmatchingBracket, &.cm-focused .cm-nonmatchingBracket": { backgroundColor: "var(--bad-wash)" },
  ".cm-searchMatch": { backgroundColor: "var(--warn-wash)", outline: "1px solid var(--warn)" },
  ".cm-searchMatch-selected": { backgroundColor: "var(--accent-wash)", outline: "2px solid var(--accent)" },
  ".cm-selectionMatch": { backgroundColor: "var(--accent-wash)" },
  ".cm-panels": { color: "var(--text)", backgroundColor: "var(--raised)", fontFamily: "var(--font)" },
  ".cm-panels.cm-panels-top": { borderBottom: "1px solid var(--line)" },
  ".cm-panel.cm-search": { display: "flex", flexWrap: "wrap", alignItems: "center", gap: "8px", padding: "8px 40px 8px 8px" },
  ".cm-panel.cm-search br": { flexBasis: "100%", content: "''" },
  ".cm-panel.cm-search label": {
    display: "inline-flex",
    alignItems: "center",
    gap: "4px",
    margin: "0",
    minHeight: "28px",
    fontSize: "12px",
  },
  ".cm-panel.cm-search input[type=checkbox]": { width: "16px", height: "16px", margin: "0" },
  ".cm-panel.cm-search input.cm-textfield": { minWidth: "0", width: "180px" },
  ".cm-panel .cm-textfield, .cm-panel .cm-button": {
    minHeight: "28px",
    margin: "0",
    padding: "0 8px",
    border: "1px solid var(--line-strong)",
    borderRadius: "var(--radius)",
    color: "var(--text)",
    backgroundColor: "var(--surface)",
    backgroundImage: "none",
    fontSize: "12px",
  },
  ".cm-panel .cm-textfield:focus-visible, .cm-panel button:focus-visible, .cm-panel input:focus-visible": {
    outline: "2px solid var(--accent)",
    outlineOffset: "1px",
  },
  ".cm-panel.cm-search button[name=close]": {
    position: "absolute",
    top: "8px",
    right: "8px",
    width: "28px",
    height: "28px",
    color: "var(--text)",
    fontSize: "18px",
  },
});

export const highlighting = HighlightStyle.define([
  { tag: [tags.comment, tags.meta], color: "var(--text-faint)" },
  { tag: [tags.keyword, tags.tagName, tags.moduleKeyword, tags.controlKeyword], color: "var(--accent)" },
  { tag: [tags.propertyName, tags.attributeName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp, tags.attributeValue], color: "var(--good)" },
  { tag: [tags.number, tags.bool, tags.null, tags.atom, tags.unit, tags.color], color: "var(--warn)" },
  { tag: tags.invalid, color: "var(--bad)" },
  { tag: [tags.heading, tags.strong], fontWeight: "600" },
]);
