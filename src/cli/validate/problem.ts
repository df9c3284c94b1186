/** A problem of a package: an error for which the daemon would reject it, or a probable mistake. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** For scripts. The code of an error is that of the daemon's response. */
  readonly code: string;
  readonly message: string;
  /** Relative to the package root. */
  readonly file: string;
  /** Line and column start at 1. */
  readonly line?: number;
  readonly column?: number;
  /** The faulty line, with a marker below the column. */
  readonly excerpt?: readonly string[];
}

/** Returns `manifest.yaml:3:10: message`, the format of compilers. */
export function describeProblem({ file, line, column, message }: Problem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}
