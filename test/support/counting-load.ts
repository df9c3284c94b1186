import { setTimeout as delay } from "node:timers/promises";
import { Agent, request } from "undici";

interface LoadOptions {
  readonly headers?: Record<string, string>;
  readonly connections?: number;
  /** Pause in ms of each connection after a response. */
  readonly pauseMs?: number;
  /** Body of POST requests. Without it, the requests are GET. */
  readonly post?: string;
  /** Certificate to trust for https. */
  readonly ca?: Buffer;
}

interface RequestOptions {
  readonly headers: Record<string, string>;
  readonly pauseMs: number;
  readonly post: string | undefined;
}

/** Requests one URL over a few connections until stopped, and counts the responses by status and text. */
export class CountingLoad {
  /** Number of responses by `200 text`, and of failed requests by error message. */
  readonly answers = new Map<string, number>();
  readonly #agent: Agent;
  readonly #loops: Promise<void>[];
  #ended: Promise<void> | undefined;

  constructor(url: string, { headers = {}, connections = 4, pauseMs = 0, post, ca }: LoadOptions = {}) {
    this.#agent = new Agent({ connections, ...(ca && { connect: { ca } }) });
    this.#loops = Array.from({ length: connections }, () => this.#loop(url, { headers, pauseMs, post }));
  }

  get total(): number {
    return [...this.answers.values()].reduce((sum, count) => sum + count, 0);
  }

  stop(): Promise<void> {
    this.#ended ??= Promise.all(this.#loops).then(() => this.#agent.close());
    return this.#ended;
  }

  async #loop(url: string, options: RequestOptions): Promise<void> {
    while (this.#ended === undefined) {
      const answer = await this.#ask(url, options).catch((error: unknown) => `failed: ${String(error)}`);
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
      if (options.pauseMs > 0) await delay(options.pauseMs);
    }
  }

  async #ask(url: string, { headers, post }: RequestOptions): Promise<string> {
    const sent = post === undefined ? {} : { method: "POST" as const, body: post };
    const { statusCode, body } = await request(url, { headers, ...sent, dispatcher: this.#agent });
    return `${statusCode} ${await body.text()}`;
  }
}
