import type { Extension } from "@codemirror/state";

type Load = () => Promise<Extension>;

const javascript: Load = async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true });
const typescript: Load = async () => (await import("@codemirror/lang-javascript")).javascript({ jsx: true, typescript: true });
const json: Load = async () => (await import("@codemirror/lang-json")).json();
const yaml: Load = async () => (await import("@codemirror/lang-yaml")).yaml();
const html: Load = async () => (await import("@codemirror/lang-html")).html();
const css: Load = async () => (await import("@codemirror/lang-css")).css();

/** The languages by the end of a file name. Each is loaded with the first file of the language. */
const languages: ReadonlyMap<string, Load> = new Map([
  ...["js", "mjs", "cjs", "jsx"].map((end) => [end, javascript] as const),
  ...["ts", "mts", "cts", "tsx"].map((end) => [end, typescript] as const),
  ...["json", "map", "webmanifest"].map((end) => [end, json] as const),
  ...["yaml", "yml"].map((end) => [end, yaml] as const),
  ...["html", "htm", "svg"].map((end) => [end, html] as const),
  ["css", css],
]);

/** Loads the language of a file. Other files have no highlighting. */
export async function loadLanguage(fileName: string): Promise<Extension> {
  const end = fileName.slice(fileName.lastIndexOf(".") + 1).toLowerCase();
  return (await languages.get(end)?.()) ?? [];
}
