import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension>;

const javascript: Load = async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true });
const typescript: Load = async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true, typescript: true });
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();

/** Loaders for the highlighting of each language, by file extension. The browser loads a language with the first file of this language. */
const languages: ReadonlyMap<string, Load> = new Map([
  ...["js", "mjs", "cjs", "jsx"].map((end) => [end, javascript] as const),
  ...["ts", "mts", "cts", "tsx"].map((end) => [end, typescript] as const),
  ...["json", "map", "webmanifest"].map((end) => [end, json] as const),
  ...["yaml", "yml"].map((end) => [end, yaml] as const),
  ...["html", "htm", "svg"].map((end) => [end, html] as const),
  ["css", css],
]);

/** Loads the highlighting for a file name. Returns no highlighting for a name with an unknown extension. */
export async function loadLanguage(fileName: string): Promise<Extension> {
  const end = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  return (await languages.get(end)?.()) ?? [];
}
