/** Something about a package that the daemon would refuse, or that its author hardly meant. */
export interface Problem {
  readonly severity: "error" | "warning";
  /** For scripts; of errors the one that the daemon would answer with. */
  readonly code: string;
  readonly message: string;
  /** Below the package's root. */
  readonly file: string;
  /** Both count from 1. */
  readonly line?: number;
  readonly column?: number;
  /** The line itself, and a mark below the column. */
  readonly excerpt?: readonly string[];
}

/** `manifest.yaml:3:10: message`, as editors and compilers write it. */
export function describeProblem({ file, line, column, message }: Problem): string {
  return `${[file, line, column].filter((part) => part !== undefined).join(":")}: ${message}`;
}
