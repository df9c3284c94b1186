/** Files that modules import as text, as a loader of esbuild. */
export const textLoaders = { ".html": "text", ".md": "text", ".sql": "text", ".svg": "text", ".txt": "text" } as const;

/** Matches the factory of a file with classic JSX. */
const factoryPattern = /@jsx\s+[\w$]/;

/** Returns a module that reads a WebAssembly file and compiles it. `base` is the expression to which the path is relative. */
export function wasmModule(file: string, base: string): string {
  const bytes = `readFileSync(new URL(${JSON.stringify(encodeURI(file))}, ${base}))`;
  return `import { readFileSync } from "node:fs"; export default new WebAssembly.Module(${bytes});`;
}

/** Selects classic JSX for a module that names its factory. Automatic JSX would ignore the factory. */
export function withClassicJsx(text: string): string {
  return factoryPattern.test(text) && !text.includes("@jsxRuntime") ? `/** @jsxRuntime classic */ ${text.replace(/^#!.*/, "")}` : text;
}
