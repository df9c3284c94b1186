/** What the compiling process is told. */
export interface CompileJob {
  readonly folder: string;
  /** The entrypoint, relative to the folder. */
  readonly file: string;
}

/** What it answers: the module's text, or why there is none. */
export type CompileResult = { readonly text: string } | { readonly problem: string };
