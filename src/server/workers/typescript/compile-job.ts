/** The input of the compiler process. */
export interface CompileJob {
  readonly folder: string;
  /** Path of the entrypoint, relative to `folder`. */
  readonly file: string;
}

/** The result of the compiler process: the module's text, or the problem. */
export type CompileResult = { readonly text: string } | CompileProblem;

export interface CompileProblem {
  readonly problem: string;
  readonly report?: string;
  /** True when a time or memory limit stopped the compiler. */
  readonly tookTooMuch?: boolean;
}
