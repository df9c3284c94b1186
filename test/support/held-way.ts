import { connect, createServer, type AddressInfo, type Server, type Socket } from "node:net";

/**
 * A proxy between clients and a server. The proxy stops reading from a client that has sent more than `bytes` bytes, until the test opens
 * the proxy.
 */
export class HeldWay {
  readonly #server: Server;
  readonly #target: URL;
  readonly #bytes: number;
  /** Sockets from a client and to the server. */
  readonly #pairs: (readonly [client: Socket, onward: Socket])[] = [];
  #isOpen = false;

  private constructor(target: URL, bytes: number) {
    this.#target = target;
    this.#bytes = bytes;
    this.#server = createServer((client) => this.#lead(client));
  }

  static async to(url: string, bytes: number): Promise<HeldWay> {
    const way = new HeldWay(new URL(url), bytes);
    await new Promise<void>((resolve) => way.#server.listen(0, "127.0.0.1", resolve));
    return way;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  open(): void {
    if (this.#isOpen) return;
    this.#isOpen = true;
    // Skips clients that already have a pipe, because a second pipe would send every byte twice.
    for (const [client, onward] of this.#pairs) client.unpipe(onward).pipe(onward);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#pairs.flat()) socket.destroy();
  }

  #lead(client: Socket): void {
    const onward = connect(Number(this.#target.port), this.#target.hostname);
    this.#pairs.push([client, onward]);
    client.on("error", () => onward.destroy());
    onward.on("error", () => client.destroy());
    onward.pipe(client);
    client.pipe(onward);
    client.on("data", () => {
      if (!this.#isOpen && client.bytesRead > this.#bytes) client.unpipe(onward).pause();
    });
  }
}
