import { Redactor } from "./redactor.js";
import { withFields, type OutputFormat } from "./output-format.js";
import { factLines, knownFacts, alignedTable, tabSeparated, type Facts, type TableStyle } from "./table.js";
import type { GlobalFlags } from "../command/command.js";
import { sanitizeForTerminal, printableJson, printableLines } from "./sanitize-for-terminal.js";
import { repeatFlags } from "../command/repeated-flags.js";
import type { ResultFile } from "./result-file.js";
import { styled, type Style } from "./styles.js";

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
  readonly format: OutputFormat;
  /** Of documents, these fields only. */
  readonly fields?: readonly string[] | undefined;
  /** Tab-separated values begin with a line of headings. */
  readonly header?: boolean;
  readonly quiet?: boolean;
  /** 1: a line for each HTTP call; 2: headers too. */
  readonly verbosity?: number;
  readonly resultFile?: ResultFile | undefined;
  readonly redactor?: Redactor;
  /** Flags of this command that commands in messages need too. */
  readonly connectionFlags?: Pick<GlobalFlags, "profile" | "url" | "keyFile"> | undefined;
}

/**
 * The only one that writes. Results go to stdout, everything else to stderr; with `--json` stdout is exactly one document.
 * Text passes through `printable` here, so that no command has to think of it, and what goes to stderr is free of keys.
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

  /** Whether results are laid out for people: not as a document, nor as values between tabs. */
  get isAligned(): boolean {
    const { format } = this.#mode;
    return format === "table" || (format === "automatic" && this.#terminal.stdoutIsTty);
  }

  /** How results are laid out: in color only where they are seen, and not in a pipe. */
  get layout(): TableStyle {
    const { widthColumns, hasColor, stdoutIsTty } = this.#terminal;
    return { widthColumns, hasColor: hasColor && stdoutIsTty && this.isAligned };
  }

  /** How much is told of HTTP: 0 nothing, 1 a line for each call, 2 headers too. */
  get verbosity(): number {
    return this.#mode.verbosity ?? 0;
  }

  /** Never shows this text on stderr, whoever says it. */
  redact(secret: string): void {
    this.#redactor.add(secret);
  }

  /** Tells GitHub's runner, which reads stderr as well, to blank a secret out of its log from here on. */
  mask(secret: string): void {
    this.#terminal.writeStderr(`::add-mask::${secret}\n`);
  }

  /** The text without what `conceal` was told, and without anything that looks like a key. */
  redacted(text: string): string {
    return this.#redactor.redact(text);
  }

  /** Shows the command's result: the document with `--json`, otherwise the text (none = nothing on stdout). Once per command. */
  result(document: unknown, text?: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else if (text !== undefined) this.#terminal.writeStdout(`${printableLines(text)}\n`);
  }

  /** Like `result`, for a text that was made printable and laid out by `layout`. */
  laidOut(document: unknown, text: string): void {
    this.#record(document);
    if (this.isJson) this.#showDocument(document);
    else this.#terminal.writeStdout(`${text}\n`);
  }

  /** Shows what is known about one thing: the document with `--json`, tab-separated with `--plain`, otherwise names and values in two columns. */
  facts(document: unknown, facts: Facts): void {
    if (this.#mode.format !== "plain") return this.laidOut(document, factLines(facts, this.layout));
    this.#record(document);
    this.#terminal.writeStdout(`${tabSeparated(knownFacts(facts))}\n`);
  }

  /** Shows rows: the document with `--json`, an aligned table on a terminal, tab-separated values in a pipe. */
  table(document: unknown, headings: readonly string[], rows: readonly (readonly string[])[]): void {
    this.#record(document);
    if (this.isJson) return this.#showDocument(document);
    const text = this.isAligned
      ? rows.length > 0 && alignedTable(headings, rows, this.layout)
      : tabSeparated(this.#mode.header ? [headings, ...rows] : rows);
    if (text) this.#terminal.writeStdout(`${text}\n`);
  }

  /**
   * Shows one of many results as it comes: with `--json` a document a line, otherwise the text. The text may hold colours of ours;
   * whoever makes it has made the rest printable.
   */
  line(document: unknown, text: string): void {
    const { fields } = this.#mode;
    this.#terminal.writeStdout(this.isJson ? `${printableJson(fields ? withFields(document, fields) : document)}\n` : `${text}\n`);
  }

  /** Bytes as they are, for `api` in a pipe. Not for use with `--json`. */
  raw(bytes: Uint8Array): void {
    this.#terminal.writeStdout(bytes);
  }

  /** A text whose `runtimectl` commands reach the daemon that this command talks to. */
  repeatFlags(text: string): string {
    return repeatFlags(text, this.#mode.connectionFlags ?? {});
  }

  /** What a person would like to know besides the result; the lead is a word in front of it, in a style. */
  note(text: string, lead?: { readonly text: string; readonly style: Style }): void {
    if (this.#mode.quiet || this.isJson) return;
    const first = lead === undefined ? "" : `${styled(lead.style, lead.text, this.#terminal)} `;
    this.#tell(first + printableLines(this.repeatFlags(text)));
  }

  /** The command that takes back what was done. */
  undo(command: string): void {
    this.note(command, { text: "Undo:", style: "bold" });
  }

  /** A line below a table, for people only. */
  footer(text: string): void {
    if (this.#terminal.stdoutIsTty && this.isAligned) this.note(text);
  }

  /** A note that holds a new key, at a terminal only: what else goes to stderr is free of keys. */
  reveal(text: string): void {
    const { stdoutIsTty, stderrIsTty } = this.#terminal;
    if (this.#mode.quiet || !this.isAligned || !stdoutIsTty || !stderrIsTty) return;
    this.#terminal.writeStderr(`${printableLines(text)}\n`);
  }

  warn(text: string): void {
    this.#tell(`${styled("yellow", "warning:", this.#terminal)} ${printableLines(this.repeatFlags(text))}`);
  }

  /** A line about HTTP, with `--verbose`; those of level 2 with `-vv`. */
  trace(text: string, level: 1 | 2 = 1): void {
    if (this.verbosity >= level) this.#tell(sanitizeForTerminal(text));
  }

  /** The failure that ends the command: a document with `--json`, otherwise words. Always on stderr. */
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
    if (this.#documentShown) throw new Error("a command shows one document");
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
