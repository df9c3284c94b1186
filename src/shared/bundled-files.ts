/** Loaders of esbuild by file extension. A module that imports a file with one of these extensions receives the text of the file. */
export const textLoaders = { ".html": "text", ".md": "text", ".sql": "text", ".svg": "text", ".txt": "text" } as const;

/**
 * Matches a comment such as `@jsx h`, which names the function that creates JSX elements. Only esbuild's classic JSX mode uses this
 * function.
 */
const factoryPattern = /@jsx\s+[\w$]/;

/**
 * Returns the source of a module that reads and compiles a WebAssembly file. `base` is a JavaScript expression for the URL against which
 * the path `file` is resolved.
 */
export function wasmModule(file: string, base: string): string {
  const bytes = `readFileSync(new URL(${JSON.stringify(encodeURI(file))}, ${base}))`;
  return `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(${bytes});`;
}

/** Selects the classic JSX mode for a module whose `@jsx` comment names a function, because the automatic mode ignores the comment. */
export function withClassicJsx(text: string): string {
  return factoryPattern.test(text) && !text.includes("@jsxRuntime") ? `/** @jsxRuntime classic */ ${text.replace(/^#!.*/, "")}` : text;
}
