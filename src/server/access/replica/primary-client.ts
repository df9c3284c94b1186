import { setTimeout as delay } from "node:timers/promises";
import type { Pool } from "undici";
import type { PrimarySource } from "../../config/primary-source.js";

/** Default time limit for a response of the primary. */
const primaryDeadlineMs = 2_000;
const mostConnections = 4;
/**
 * Maximum pause before a repeated write to the primary. The pause is random, so that several daemons do not repeat their writes at the same
 * time.
 */
const longestPauseMs = 40;

/** A value that SQLite can store, except for blobs. */
export type SqlValue = string | number | null;
export type SqlRow = Readonly<Record<string, SqlValue>>;

export interface Statement {
  readonly sql: string;
  /** Values of the placeholders ?1, ?2 and so on. */
  readonly values: readonly SqlValue[];
}

/**
 * Client of a libSQL server over HTTP (Hrana 2, https://github.com/tursodatabase/libsql/blob/main/docs/HRANA_2_SPEC.md). Never blocks the
 * event loop.
 */
export class Primary {
  readonly #pool: Pool;
  readonly #deadlineMs: number;
  readonly #headers: Record<string, string>;
  #lastWrite: Promise<unknown> = Promise.resolve();

  private constructor(pool: Pool, { token, deadlineMs }: { token: string | undefined; deadlineMs: number }) {
    this.#pool = pool;
    this.#deadlineMs = deadlineMs;
    this.#headers = { "content-type": "application/json", ...(token !== undefined && { authorization: `Bearer ${token}` }) };
  }

  /** Returns a client, which connects to the server at the first request. */
  static async at({
    url,
    token,
    deadlineMs = primaryDeadlineMs,
  }: Pick<PrimarySource, "url" | "token"> & { deadlineMs?: number }): Promise<Primary> {
    const { default: undici } = await import("undici");
    return new Primary(new undici.Pool(url, { connections: mostConnections }), { token, deadlineMs });
  }

  /** Runs the statements in one read transaction. Resolves with the rows of each statement. Throws PrimaryError. */
  async read(...statements: Statement[]): Promise<SqlRow[][]> {
    return this.#run("BEGIN", statements, AbortSignal.timeout(this.#deadlineMs));
  }

  /**
   * Runs the statements in a write transaction. Only one transaction runs at a time. Repeats the transaction after a lost connection or if
   * the primary is busy, so statements must be idempotent. Resolves with all rows. Throws PrimaryError.
   */
  async write(...statements: Statement[]): Promise<SqlRow[][]> {
    const signal = AbortSignal.timeout(this.#deadlineMs);
    const written = this.#lastWrite.then(() => this.#writeUntilDone(statements, signal));
    this.#lastWrite = written.catch(() => undefined);
    return written;
  }

  async close(): Promise<void> {
    await this.#pool.destroy();
  }

  async #writeUntilDone(statements: readonly Statement[], signal: AbortSignal): Promise<SqlRow[][]> {
    let isPossiblyCommitted = false;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.#run("BEGIN IMMEDIATE", statements, signal);
      } catch (error) {
        if (!(error instanceof PrimaryError)) throw error;
        isPossiblyCommitted ||= error.isPossiblyCommitted;
        error.isPossiblyCommitted = isPossiblyCommitted;
        if (error.kind !== "busy" && !(error.kind === "unreachable" && attempt === 1)) throw error;
        await delay(Math.random() * longestPauseMs);
      }
    }
  }

  async #run(begin: string, statements: readonly Statement[], signal: AbortSignal): Promise<SqlRow[][]> {
    const steps = [{ sql: begin, values: [] }, ...statements, { sql: "COMMIT", values: [] }];
    const batch = {
      steps: [
        ...steps.map((statement, index) => ({ stmt: toStmt(statement), condition: index === 0 ? null : { type: "ok", step: index - 1 } })),
        { stmt: { sql: "ROLLBACK" }, condition: { type: "not", cond: { type: "ok", step: steps.length - 1 } } },
      ],
    };
    const answer = await this.#send({ requests: [{ type: "batch", batch }, { type: "close" }] }, signal);
    return rowsOf(answer).slice(1, -1);
  }

  async #send(body: object, signal: AbortSignal): Promise<PipelineResponse> {
    if (signal.aborted) throw PrimaryError.late(this.#deadlineMs, { isSent: false });
    try {
      const { statusCode, body: answer } = await this.#pool.request({
        method: "POST",
        path: "/v2/pipeline",
        headers: this.#headers,
        body: JSON.stringify(body),
        signal,
      });
      const text = await answer.text();
      if (statusCode === 401 || statusCode === 403) throw PrimaryError.unauthorised(statusCode);
      if (statusCode !== 200) throw PrimaryError.unexpected(`its response has status ${statusCode}`);
      return JSON.parse(text) as PipelineResponse;
    } catch (cause) {
      if (cause instanceof PrimaryError) throw cause;
      if (cause instanceof SyntaxError) throw PrimaryError.unexpected("its response is not JSON");
      throw signal.aborted ? PrimaryError.late(this.#deadlineMs, { isSent: true }) : PrimaryError.unreachable(cause);
    }
  }
}

interface PipelineResponse {
  readonly results?: readonly {
    readonly type: "ok" | "error";
    readonly error?: StepError;
    readonly response?: { readonly result?: BatchResult };
  }[];
}

interface BatchResult {
  readonly step_results: readonly (StepResult | null)[];
  readonly step_errors: readonly (StepError | null)[];
}

interface StepResult {
  readonly cols: readonly { readonly name: string }[];
  readonly rows: readonly (readonly HranaValue[])[];
}

interface StepError {
  readonly message: string;
  readonly code?: string;
}

interface HranaValue {
  readonly type: "null" | "integer" | "float" | "text" | "blob";
  readonly value?: string | number;
}

function toStmt({ sql, values }: Statement): object {
  return { sql, args: values.map((value) => toHrana(value)) };
}

function toHrana(value: SqlValue): object {
  if (value === null) return { type: "null" };
  if (typeof value === "string") return { type: "text", value };
  return Number.isInteger(value) ? { type: "integer", value: String(value) } : { type: "float", value };
}

/** Returns the rows of each statement. Omits the last step of the request, which is the rollback. Throws PrimaryError. */
function rowsOf({ results }: PipelineResponse): SqlRow[][] {
  const [first] = results ?? [];
  const result = first?.response?.result;
  const error = first?.error ?? result?.step_errors.find((each) => each !== null);
  if (error) throw PrimaryError.refused(error);
  if (!result) throw PrimaryError.unexpected("its response has no results");
  return result.step_results.slice(0, -1).map((step) => (step ? step.rows.map((row) => toRow(step, row)) : []));
}

function toRow({ cols }: StepResult, row: readonly HranaValue[]): SqlRow {
  return Object.fromEntries(cols.map(({ name }, index) => [name, fromHrana(row[index])]));
}

function fromHrana(value: HranaValue | undefined): SqlValue {
  if (value?.value === undefined) return null;
  return value.type === "integer" ? Number(value.value) : value.value;
}

/** Codes of errors before a request is sent. */
const notSentCodes = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH", "UND_ERR_CONNECT_TIMEOUT"]);

type PrimaryErrorKind =
  /** The primary did not respond. */
  | "unreachable"
  | "late"
  /** The primary rejected the token and changed nothing. */
  | "unauthorised"
  | "refused"
  | "without-tables"
  /** The primary is busy with a write of another client. */
  | "busy"
  /** The response does not come from a working libSQL server. */
  | "unexpected";

/** Error of a transaction on the primary. Logs put the words "the primary" before the message, so the message begins with a verb. */
export class PrimaryError extends Error {
  readonly kind: PrimaryErrorKind;
  /** True if the primary received the transaction and its response is lost. The primary has then possibly committed the transaction. */
  isPossiblyCommitted = false;

  private constructor(kind: PrimaryErrorKind, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = "PrimaryError";
    this.kind = kind;
  }

  static unreachable(cause: unknown): PrimaryError {
    const { code, message } = cause as NodeJS.ErrnoException;
    const error = new PrimaryError("unreachable", `cannot be reached (${code ?? message})`, cause);
    error.isPossiblyCommitted = !notSentCodes.has(code ?? "");
    return error;
  }

  static late(deadlineMs: number, { isSent }: { isSent: boolean }): PrimaryError {
    const error = new PrimaryError("late", `did not respond within ${deadlineMs / 1000} s`);
    error.isPossiblyCommitted = isSent;
    return error;
  }

  static unauthorised(status: number): PrimaryError {
    return new PrimaryError(
      "unauthorised",
      `rejects the token (status ${status}), which is missing, wrong or expired: set RUNTIME_AUTH_DB_SYNC_TOKEN_FILE to a file with a valid token, and restart runtimed`,
    );
  }

  static refused({ message }: { readonly message: string }): PrimaryError {
    return new PrimaryError(kindOf(message), `rejected a statement (${message})`);
  }

  static unexpected(what: string): PrimaryError {
    const error = new PrimaryError("unexpected", `does not behave like a libSQL server: ${what}`);
    error.isPossiblyCommitted = true;
    return error;
  }
}

/** Returns the kind of an error. Uses the text of SQLite's message, because different errors have the same code. */
function kindOf(message: string): PrimaryErrorKind {
  if (/no such table/i.test(message)) return "without-tables";
  return /database (?:table )?is locked|busy/i.test(message) ? "busy" : "refused";
}
