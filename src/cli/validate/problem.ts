/** A problem with a package: an error for which the daemon would reject the package, or a warning about a probable mistake. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** Code of the problem, for scripts. For an error, the code in the daemon's response. */
  readonly code: string;
  readonly message: string;
  /** Path of the file, relative to the package root. */
  readonly file: string;
  /** Line number, starting at 1. `column` also starts at 1. */
  readonly line?: number;
  readonly column?: number;
  /** The line with the problem, and a line with a marker below the column. */
  readonly excerpt?: readonly string[];
}

/** Formats a problem like a compiler, such as `manifest.yaml:3:10: message`. */
export function describeProblem({ file, line, column, message }: Problem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}
