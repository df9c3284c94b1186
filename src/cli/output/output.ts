import { Redactor } from "./redactor.js";
import { withFields, type OutputFormat } from "./output-format.js";
import { factLines, knownFacts, alignedTable, tabSeparated, type Facts, type TableStyle } from "./table.js";
import { paragraphs } from "../command/help-layout.js";
import type { GlobalFlags } from "../command/command.js";
import { sanitizeForTerminal, printableJson, printableLines } from "./sanitize-for-terminal.js";
import { repeatFlags } from "../command/repeated-flags.js";
import type { ResultFile } from "./result-file.js";
import { styled, type Style } from "./styles.js";

/** Properties of the terminal, and functions that write to stdout and stderr. */
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
  readonly format: OutputFormat;
  /** Names of the only fields that JSON documents contain. Undefined for all fields. */
  readonly fields?: readonly string[] | undefined;
  /** Whether a line with column names precedes tab-separated values. */
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** Level of HTTP tracing. Level 1 prints one line per request, level 2 also prints the headers. */
  readonly verbosity?: number;
  readonly resultFile?: ResultFile | undefined;
  readonly redactor?: Redactor;
  /** Connection flags of this command. `Output` adds them to the `runtimectl` commands in messages. */
  readonly connectionFlags?: Pick<GlobalFlags, "profile" | "url" | "keyFile"> | undefined;
}

/**
 * Writes all output of a command: results to stdout, everything else to stderr. With `--json`, stdout contains one JSON document. Escapes
 * control characters, and removes API keys from stderr.
 */
export class Output {
  readonly #terminal: Terminal;
  readonly #mode: OutputMode;
  readonly #redactor: Redactor;
  #documentShown = false;

  constructor(terminal: Terminal, mode: OutputMode) {
    this.#terminal = terminal;
    this.#mode = mode;
    this.#redactor = mode.redactor ?? new Redactor();
  }

  get isJson(): boolean {
    return this.#mode.format === "json";
  }

  /** Whether results are printed as aligned tables. Otherwise they are JSON or tab-separated values. */
  get isAligned(): boolean {
    const { format } = this.#mode;
    return format === "table" || (format === "automatic" && this.#terminal.stdoutIsTty);
  }

  /** Width and color of printed results. In a pipe, results have no color. */
  get layout(): TableStyle {
    const { widthColumns, hasColor, stdoutIsTty } = this.#terminal;
    return { widthColumns, hasColor: hasColor && stdoutIsTty && this.isAligned };
  }

  /** Level of HTTP tracing. Level 0 prints nothing, level 1 prints one line per request, level 2 also prints the headers. */
  get verbosity(): number {
    return this.#mode.verbosity ?? 0;
  }

  /** Registers a secret. All further output to stderr contains a placeholder instead of this secret. */
  redact(secret: string): void {
    this.#redactor.add(secret);
  }

  /**
   * Hides a secret in the workflow log of GitHub Actions. The program that runs the workflow also reads commands such as `::add-mask::`
   * from stderr.
   */
  mask(secret: string): void {
    this.#terminal.writeStderr(`::add-mask::${secret}\n`);
  }

  /** Replaces registered secrets in a text, and every other text that looks like an API key. */
  redacted(text: string): string {
    return this.#redactor.redact(text);
  }

  /** Prints the result of a command: with `--json` the document, otherwise the text (if any). A command calls this method at most once. */
  result(document: unknown, text?: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else if (text !== undefined) this.#terminal.writeStdout(`${printableLines(text)}\n`);
  }

  /** Prints a result as `result` does. The caller has already formatted the text and escaped control characters. */
  laidOut(document: unknown, text: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else this.#terminal.writeStdout(`${text}\n`);
  }

  /** Prints the properties of one item: with `--json` the document, with `--plain` tab-separated values, otherwise two columns. */
  facts(document: unknown, facts: Facts): void {
    if (this.#mode.format !== "plain") return this.laidOut(document, factLines(facts, this.layout));
    this.#record(document);
    this.#terminal.writeStdout(`${tabSeparated(knownFacts(facts))}\n`);
  }

  /** Prints rows: with `--json` the document, on a terminal an aligned table, in a pipe tab-separated values. */
  table(document: unknown, headings: readonly string[], rows: readonly (readonly string[])[]): void {
    this.#record(document);
    if (this.isJson) return this.#showDocument(document);
    const text = this.isAligned
      ? rows.length > 0 && alignedTable(headings, rows, this.layout)
      : tabSeparated(this.#mode.header ? [headings, ...rows] : rows);
    if (text) this.#terminal.writeStdout(`${text}\n`);
  }

  /**
   * Prints one result of a stream: with `--json` the document on one line, otherwise the text. The caller has already escaped control
   * characters in the text.
   */
  line(document: unknown, text: string): void {
    const { fields } = this.#mode;
    this.#terminal.writeStdout(this.isJson ? `${printableJson(fields ? withFields(document, fields) : document)}\n` : `${text}\n`);
  }

  /** Writes bytes unchanged to stdout. A command must not call this method with `--json`. */
  raw(bytes: Uint8Array): void {
    this.#terminal.writeStdout(bytes);
  }

  /** Adds the connection flags of this command to the `runtimectl` commands in a text. */
  repeatFlags(text: string): string {
    return repeatFlags(text, this.#mode.connectionFlags ?? {});
  }

  /** Prints a note to stderr, after an optional styled word. With `--quiet` or `--json`, prints nothing. */
  note(text: string, lead?: { readonly text: string; readonly style: Style }): void {
    if (this.#mode.quiet || this.isJson) return;
    const first = lead === undefined ? "" : `${styled(lead.style, lead.text, this.#terminal)} `;
    this.#writeLine(first + printableLines(this.repeatFlags(text)));
  }

  /** Prints the command that reverts the change that the current command made. */
  undo(command: string): void {
    this.note(command, { text: "Undo:", style: "bold" });
  }

  /** Prints a note below a table if stdout is a terminal, otherwise prints nothing. */
  footer(text: string): void {
    if (this.#terminal.stdoutIsTty && this.isAligned) this.note(paragraphs(this.repeatFlags(text), this.layout, ""));
  }

  /**
   * Prints a note with a new API key if stdout and stderr are terminals, otherwise prints nothing. All other output to stderr contains no
   * API keys.
   */
  reveal(text: string): void {
    const { stdoutIsTty, stderrIsTty } = this.#terminal;
    if (this.#mode.quiet || !this.isAligned || !stdoutIsTty || !stderrIsTty) return;
    this.#terminal.writeStderr(`${printableLines(text)}\n`);
  }

  warn(text: string): void {
    this.#writeLine(`${styled("yellow", "warning:", this.#terminal)} ${printableLines(this.repeatFlags(text))}`);
  }

  /** Prints one line of the HTTP trace. Lines of level 1 need `-v`, lines of level 2 need `-vv`. */
  trace(text: string, level: 1 | 2 = 1): void {
    if (this.verbosity >= level) this.#writeLine(sanitizeForTerminal(text));
  }

  /** Prints the error that ends the command to stderr: with `--json` as a JSON document, otherwise as text. */
  failure(given: FailureReport, stack?: string): void {
    const error = {
      ...given,
      message: this.repeatFlags(given.message),
      ...(given.hint !== undefined && { hint: this.repeatFlags(given.hint) }),
    };
    this.#mode.resultFile?.append({ error });
    if (this.verbosity >= 2 && stack !== undefined) this.#writeLine(printableLines(stack));
    if (this.isJson) return this.#writeLine(printableJson({ error }));
    const lines = [`${styled("red", "error:", this.#terminal)} ${printableLines(error.message)}`];
    if (error.details?.length) lines.push(...error.details.map((detail) => `  ${sanitizeForTerminal(detail)}`));
    if (error.hint !== undefined) lines.push(`${styled("bold", "hint:", this.#terminal)} ${printableLines(error.hint)}`);
    const facts = [error.code, ...(error.requestId === undefined ? [] : [`request ${error.requestId}`])];
    this.#writeLine(`${lines.join("\n")}\n(${sanitizeForTerminal(facts.join(", "))})`);
  }

  #record(document: unknown): void {
    this.#mode.resultFile?.append({ result: document });
  }

  #showDocument(document: unknown): void {
    if (this.#documentShown) throw new Error("a command must print only one JSON document");
    this.#documentShown = true;
    const { fields } = this.#mode;
    const shown = fields ? withFields(document, fields) : document;
    this.#terminal.writeStdout(`${printableJson(shown, this.#terminal.stdoutIsTty ? 2 : undefined)}\n`);
  }

  #writeLine(text: string): void {
    this.#terminal.writeStderr(`${this.redacted(text)}\n`);
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
