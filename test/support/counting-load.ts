import { Agent, request } from "undici";

/** Requests one URL over a few connections until stopped, and counts the responses by status and text. */
export class CountingLoad {
  /** Number of responses by `200 text`, and of failed requests by error message. */
  readonly answers = new Map<string, number>();
  readonly #agent: Agent;
  readonly #loops: Promise<void>[];
  #ended: Promise<void> | undefined;

  /** `ca` is the certificate to trust for https. */
  constructor(
    url: string,
    { headers = {}, connections = 4, ca }: { headers?: Record<string, string>; connections?: number; ca?: Buffer } = {},
  ) {
    this.#agent = new Agent({ connections, ...(ca && { connect: { ca } }) });
    this.#loops = Array.from({ length: connections }, () => this.#loop(url, headers));
  }

  get total(): number {
    return [...this.answers.values()].reduce((sum, count) => sum + count, 0);
  }

  stop(): Promise<void> {
    this.#ended ??= Promise.all(this.#loops).then(() => this.#agent.close());
    return this.#ended;
  }

  async #loop(url: string, headers: Record<string, string>): Promise<void> {
    while (this.#ended === undefined) {
      const answer = await this.#ask(url, headers).catch((error: unknown) => `failed: ${String(error)}`);
      this.answers.set(answer, (this.answers.get(answer) ?? 0) + 1);
    }
  }

  async #ask(url: string, headers: Record<string, string>): Promise<string> {
    const { statusCode, body } = await request(url, { headers, dispatcher: this.#agent });
    return `${statusCode} ${await body.text()}`;
  }
}
