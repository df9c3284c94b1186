import { formatEvent } from "../../src/shared/event-stream.js";
import type { Transport, TransportRequest, TransportResponse } from "../../src/shared/client.js";
import { usualAnswers, WireAnswer } from "./fake-daemon.js";

/** A request as tests read it. */
export interface SentRequest {
  readonly method: string;
  /** Path with query. */
  readonly path: string;
  /** Parsed JSON, or the bytes of a form as text. */
  readonly body: unknown;
}

/**
 * Responses by path, or by method and path such as `DELETE /api/keys/3`. A value is sent as JSON, a `WireAnswer` unchanged, and bytes as a
 * download. An `Error` rejects the call, a `FakeStream` stays open. A function computes the response.
 */
export type Answers = Record<string, unknown>;

/** A transport for `createClient` that responds from a table without a network. Tests can change the table any time. */
export class FakeTransport {
  readonly answers: Answers;
  readonly requests: SentRequest[] = [];
  /** Rejects every call with this error, as for an unreachable daemon. */
  failure: Error | undefined;
  #held: PromiseWithResolvers<void> | undefined;

  /** Returns the transport with the responses of a daemon without workers. */
  constructor(answers: Answers = {}) {
    this.answers = { ...usualAnswers, ...answers };
  }

  readonly send: Transport = async (request) => {
    const sent = { method: request.method, path: request.path, body: await bodyOf(request) };
    this.requests.push(sent);
    await this.#held?.promise;
    if (this.failure !== undefined) throw this.failure;
    return respond(this.#responseTo(request), request);
  };

  /** Returns the requests that change data, such as `DELETE /api/keys/3`. */
  changes(): string[] {
    return this.requests.filter(({ method }) => method !== "GET").map(({ method, path }) => `${method} ${path}`);
  }

  /** Makes all requests wait until the test calls `release()`. */
  hold(): void {
    this.#held ??= Promise.withResolvers();
  }

  release(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  #responseTo(request: TransportRequest): unknown {
    const [path = ""] = request.path.split("?");
    const answer = this.answers[`${request.method} ${path}`] ?? this.answers[path];
    if (typeof answer === "function") return (answer as (request: TransportRequest) => unknown)(request);
    return answer ?? WireAnswer.refusal(404, "NOT_FOUND", `there is no answer for ${request.method} ${path}`);
  }
}

/** An event stream that a test writes to. */
export class FakeStream {
  readonly #controllers = new Set<ReadableStreamDefaultController<Uint8Array>>();
  #backlog: readonly string[];

  /** `backlog` is sent when the stream is first opened. */
  constructor(backlog: readonly { readonly id: number }[] = []) {
    this.#backlog = backlog.map((event) => format(event));
  }

  /** Number of clients that read the stream. */
  get readerCount(): number {
    return this.#controllers.size;
  }

  /** Sends an event to all clients that read the stream. */
  send(event: { readonly id: number }): void {
    for (const controller of this.#controllers) controller.enqueue(Buffer.from(format(event)));
  }

  /** Breaks the connections of all clients that read the stream. */
  fail(error: Error): void {
    for (const controller of this.#controllers) controller.error(error);
    this.#controllers.clear();
  }

  open(signal: AbortSignal): AsyncIterable<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controllers.add(controller);
        for (const text of this.#backlog) controller.enqueue(Buffer.from(text));
        this.#backlog = [];
        signal.addEventListener("abort", () => {
          if (this.#controllers.delete(controller)) controller.error(signal.reason);
        });
      },
    });
  }
}

/** Returns a response with status 201. */
export function created(data: unknown): WireAnswer {
  return new WireAnswer(201, JSON.stringify({ success: true, data }));
}

function format(event: { readonly id: number }): string {
  return formatEvent({ id: String(event.id), data: JSON.stringify(event) });
}

async function respond(given: unknown, request: TransportRequest): Promise<TransportResponse> {
  const answer = await given;
  if (answer instanceof Error) throw answer;
  const head = { status: 200, requestId: "request-of-a-test", text: "" };
  if (answer instanceof WireAnswer) return { ...head, status: answer.status, text: answer.body };
  if (answer instanceof FakeStream && request.streamUntil) return { ...head, pieces: answer.open(request.streamUntil) };
  if (answer instanceof Uint8Array) return { ...head, pieces: piecesOf(answer) };
  return { ...head, text: JSON.stringify(answer) };
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function bodyOf({ body }: TransportRequest): Promise<unknown> {
  if (body === undefined) return undefined;
  if (typeof body === "string") return JSON.parse(body) as unknown;
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString("latin1");
}
