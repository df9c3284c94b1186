/** A problem with a package. For an error, the daemon would reject the package. A warning concerns a probable mistake. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** Code of the problem, for scripts. An error has the code that the daemon's response would contain. */
  readonly code: string;
  readonly message: string;
  /** Path of the file, relative to the package root. */
  readonly file: string;
  /** Line number. `line` and `column` start at 1. */
  readonly line?: number;
  readonly column?: number;
  /** Two lines: the faulty line of the file, and a line that marks the column. */
  readonly excerpt?: readonly string[];
}

/** Formats a problem as compilers do, such as `manifest.yaml:3:10: message`. */
export function describeProblem({ file, line, column, message }: Problem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}
