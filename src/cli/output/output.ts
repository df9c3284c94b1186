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
  /** If set, JSON documents contain only these fields. */
  readonly fields?: readonly string[] | undefined;
  /** Whether tab-separated values start with a line of column names. */
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** Level of HTTP tracing: 1 prints one line per request, 2 also prints headers. */
  readonly verbosity?: number;
  readonly resultFile?: ResultFile | undefined;
  readonly redactor?: Redactor;
  /** Connection flags of this command. They are added to the `runtimectl` commands in messages. */
  readonly connectionFlags?: Pick<GlobalFlags, "profile" | "url" | "keyFile"> | undefined;
}

/**
 * Writes all output of a command. Results go to stdout, other output to stderr. With `--json`, stdout contains one document. Escapes
 * control characters, and removes keys from stderr.
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

  /** Whether results are printed as aligned tables, and not as JSON or tab-separated values. */
  get isAligned(): boolean {
    const { format } = this.#mode;
    return format === "table" || (format === "automatic" && this.#terminal.stdoutIsTty);
  }

  /** Width and color for printed results. Results in a pipe have no color. */
  get layout(): TableStyle {
    const { widthColumns, hasColor, stdoutIsTty } = this.#terminal;
    return { widthColumns, hasColor: hasColor && stdoutIsTty && this.isAligned };
  }

  /** Level of HTTP tracing: 0 prints nothing, 1 prints one line per request, 2 also prints headers. */
  get verbosity(): number {
    return this.#mode.verbosity ?? 0;
  }

  /** Registers a secret that is replaced in all further output to stderr. */
  redact(secret: string): void {
    this.#redactor.add(secret);
  }

  /** Masks a secret in the workflow log of GitHub Actions. The GitHub runner also reads commands such as `::add-mask::` from stderr. */
  mask(secret: string): void {
    this.#terminal.writeStderr(`::add-mask::${secret}\n`);
  }

  /** Replaces registered secrets in a text, and all text that looks like a key. */
  redacted(text: string): string {
    return this.#redactor.redact(text);
  }

  /**
   * Prints the result of a command: the document with `--json`, otherwise the text, if any. Each command calls this method at most once.
   */
  result(document: unknown, text?: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else if (text !== undefined) this.#terminal.writeStdout(`${printableLines(text)}\n`);
  }

  /** Prints a result like `result`, with a text that the caller has already sanitized and formatted. */
  laidOut(document: unknown, text: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else this.#terminal.writeStdout(`${text}\n`);
  }

  /** Prints the properties of one item: the document with `--json`, tab-separated values with `--plain`, otherwise two columns. */
  facts(document: unknown, facts: Facts): void {
    if (this.#mode.format !== "plain") return this.laidOut(document, factLines(facts, this.layout));
    this.#record(document);
    this.#terminal.writeStdout(`${tabSeparated(knownFacts(facts))}\n`);
  }

  /** Prints rows: the document with `--json`, an aligned table on a terminal, or tab-separated values in a pipe. */
  table(document: unknown, headings: readonly string[], rows: readonly (readonly string[])[]): void {
    this.#record(document);
    if (this.isJson) return this.#showDocument(document);
    const text = this.isAligned
      ? rows.length > 0 && alignedTable(headings, rows, this.layout)
      : tabSeparated(this.#mode.header ? [headings, ...rows] : rows);
    if (text) this.#terminal.writeStdout(`${text}\n`);
  }

  /** Prints one result of a stream: one JSON document per line with `--json`, otherwise the text, which the caller has sanitized. */
  line(document: unknown, text: string): void {
    const { fields } = this.#mode;
    this.#terminal.writeStdout(this.isJson ? `${printableJson(fields ? withFields(document, fields) : document)}\n` : `${text}\n`);
  }

  /** Writes bytes unchanged to stdout. Do not call it with `--json`. */
  raw(bytes: Uint8Array): void {
    this.#terminal.writeStdout(bytes);
  }

  /** Adds the connection flags of this command to the `runtimectl` commands in a text. */
  repeatFlags(text: string): string {
    return repeatFlags(text, this.#mode.connectionFlags ?? {});
  }

  /** Prints a note to stderr, with an optional styled word before the note. Prints nothing with `--quiet` or `--json`. */
  note(text: string, lead?: { readonly text: string; readonly style: Style }): void {
    if (this.#mode.quiet || this.isJson) return;
    const first = lead === undefined ? "" : `${styled(lead.style, lead.text, this.#terminal)} `;
    this.#tell(first + printableLines(this.repeatFlags(text)));
  }

  /** Prints the command that reverts the change just made. */
  undo(command: string): void {
    this.note(command, { text: "Undo:", style: "bold" });
  }

  /** Prints a note below a table. Prints nothing unless stdout is a terminal. */
  footer(text: string): void {
    if (this.#terminal.stdoutIsTty && this.isAligned) this.note(paragraphs(this.repeatFlags(text), this.layout, ""));
  }

  /**
   * Prints a note that contains a new key. Prints nothing unless stdout and stderr are terminals. In all other output to stderr, keys are
   * replaced.
   */
  reveal(text: string): void {
    const { stdoutIsTty, stderrIsTty } = this.#terminal;
    if (this.#mode.quiet || !this.isAligned || !stdoutIsTty || !stderrIsTty) return;
    this.#terminal.writeStderr(`${printableLines(text)}\n`);
  }

  warn(text: string): void {
    this.#tell(`${styled("yellow", "warning:", this.#terminal)} ${printableLines(this.repeatFlags(text))}`);
  }

  /** Prints an HTTP trace line: level 1 with `-v`, level 2 with `-vv`. */
  trace(text: string, level: 1 | 2 = 1): void {
    if (this.verbosity >= level) this.#tell(sanitizeForTerminal(text));
  }

  /** Prints the error that ends the command to stderr: a JSON document with `--json`, otherwise text. */
  failure(given: FailureReport, stack?: string): void {
    const error = {
      ...given,
      message: this.repeatFlags(given.message),
      ...(given.hint !== undefined && { hint: this.repeatFlags(given.hint) }),
    };
    this.#mode.resultFile?.append({ error });
    if (this.verbosity >= 2 && stack !== undefined) this.#tell(printableLines(stack));
    if (this.isJson) return this.#tell(printableJson({ error }));
    const lines = [`${styled("red", "error:", this.#terminal)} ${printableLines(error.message)}`];
    if (error.details?.length) lines.push(...error.details.map((detail) => `  ${sanitizeForTerminal(detail)}`));
    if (error.hint !== undefined) lines.push(`${styled("bold", "hint:", this.#terminal)} ${printableLines(error.hint)}`);
    const facts = [error.code, ...(error.requestId === undefined ? [] : [`request ${error.requestId}`])];
    this.#tell(`${lines.join("\n")}\n(${sanitizeForTerminal(facts.join(", "))})`);
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

  #tell(text: string): void {
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
