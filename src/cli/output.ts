import { printable, printableJson, printableLines } from "./printable.js";
import { alignedTable, tabSeparated } from "./table.js";

/** Where text goes, and what kind of reader is there. */
export interface Terminal {
  readonly stdinIsTty: boolean;
  readonly stdoutIsTty: boolean;
  readonly stderrIsTty: boolean;
  readonly widthColumns: number;
  readonly hasColor: boolean;
  readonly writeStdout: (text: string | Uint8Array) => void;
  readonly writeStderr: (text: string) => void;
}

export interface OutputMode {
  readonly json: boolean;
  readonly quiet: boolean;
  readonly verbose: boolean;
}

/**
 * The only one that writes. Results go to stdout, everything else to stderr; with `--json` stdout is exactly one document.
 * Text passes through `printable` here, so that no command has to think of it.
 */
export class Output {
  readonly #terminal: Terminal;
  readonly #mode: OutputMode;
  #documentShown = false;

  constructor(terminal: Terminal, mode: OutputMode) {
    this.#terminal = terminal;
    this.#mode = mode;
  }

  get isJson(): boolean {
    return this.#mode.json;
  }

  /** Shows the command's result: the document with `--json`, otherwise the text (none = nothing on stdout). Once per command. */
  result(document: unknown, text?: string): void {
    if (this.#mode.json) this.#showDocument(document);
    else if (text !== undefined) this.#terminal.writeStdout(`${printableLines(text)}\n`);
  }

  /** Shows rows: the document with `--json`, an aligned table on a terminal, tab-separated values in a pipe. */
  table(document: unknown, headings: readonly string[], rows: readonly (readonly string[])[]): void {
    if (this.#mode.json) return this.#showDocument(document);
    if (!this.#terminal.stdoutIsTty) {
      if (rows.length > 0) this.#terminal.writeStdout(`${tabSeparated(rows)}\n`);
      return;
    }
    if (rows.length > 0) this.#terminal.writeStdout(`${alignedTable(headings, rows, this.#terminal.widthColumns)}\n`);
  }

  /**
   * Shows one of many results as it comes: with `--json` a document a line, otherwise the text. The text may hold colours of ours;
   * whoever makes it has made the rest printable.
   */
  line(document: unknown, text: string): void {
    this.#terminal.writeStdout(this.#mode.json ? `${printableJson(document)}\n` : `${text}\n`);
  }

  /** Bytes as they are, for `api` in a pipe. Not for use with `--json`. */
  raw(bytes: Uint8Array): void {
    this.#terminal.writeStdout(bytes);
  }

  /** What a person would like to know besides the result. */
  note(text: string): void {
    if (!this.#mode.quiet && !this.#mode.json) this.#terminal.writeStderr(`${printableLines(text)}\n`);
  }

  /** A line below a table, for people only. */
  footer(text: string): void {
    if (this.#terminal.stdoutIsTty) this.note(text);
  }

  warn(text: string): void {
    this.#terminal.writeStderr(`${this.#colored("33", "warning:")} ${printableLines(text)}\n`);
  }

  /** A line about HTTP, with `--verbose`. */
  trace(text: string): void {
    if (this.#mode.verbose) this.#terminal.writeStderr(`${printable(text)}\n`);
  }

  /** The failure that ends the command: a document with `--json`, otherwise words. Always on stderr. */
  failure(error: FailureReport): void {
    if (this.#mode.json) {
      this.#terminal.writeStderr(`${printableJson({ error })}\n`);
      return;
    }
    const lines = [`${this.#colored("31", "error:")} ${printableLines(error.message)}`];
    if (error.details?.length) lines.push(...error.details.map((detail) => `  ${printable(detail)}`));
    if (error.hint !== undefined) lines.push(`hint: ${printableLines(error.hint)}`);
    const facts = [error.code, ...(error.requestId === undefined ? [] : [`request ${error.requestId}`])];
    this.#terminal.writeStderr(`${lines.join("\n")}\n(${printable(facts.join(", "))})\n`);
  }

  #showDocument(document: unknown): void {
    if (this.#documentShown) throw new Error("a command shows one document");
    this.#documentShown = true;
    this.#terminal.writeStdout(`${printableJson(document, this.#terminal.stdoutIsTty ? 2 : undefined)}\n`);
  }

  #colored(color: string, text: string): string {
    return this.#terminal.hasColor && this.#terminal.stderrIsTty ? `\x1b[${color}m${text}\x1b[0m` : text;
  }
}

export interface FailureReport {
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly details?: readonly string[];
  readonly status?: number;
  readonly requestId?: string;
  readonly exitCode: number;
  readonly docs: string;
}
