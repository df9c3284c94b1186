/** The input of the compiler process. */
export interface CompileJob {
  readonly folder: string;
  /** Path of the entrypoint, relative to `folder`. */
  readonly file: string;
}

/** The result of the compiler process. */
export type CompileResult = CompiledModule | CompileProblem;

export interface CompiledModule {
  readonly text: string;
  /** Sentences about settings in tsconfig.json that have no effect. */
  readonly warnings: readonly string[];
}

export interface CompileProblem {
  readonly problem: string;
  readonly report?: string;
  /** True if a time limit or memory limit stopped the compiler. */
  readonly tookTooMuch?: boolean;
}
