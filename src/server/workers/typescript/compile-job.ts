/** What the compiling process is told. */
export interface CompileJob {
  readonly folder: string;
  /** The entrypoint, relative to the folder. */
  readonly file: string;
}

/** What it answers: the module's text, or why there is none: in short, and in full for the worker's log. */
export type CompileResult = { readonly text: string } | CompileProblem;

export interface CompileProblem {
  readonly problem: string;
  readonly report?: string;
  /** A limit ended it. */
  readonly tookTooMuch?: boolean;
}
