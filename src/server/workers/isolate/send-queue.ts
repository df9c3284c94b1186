/** Receiver of the messages that one end of a `WebSocketPair` sends. */
export interface MessageReceiver {
  /** Number of bytes that the receiver has not accepted yet. */
  readonly bufferedAmount: number;
  /** Sends a message. The caller must not change the bytes afterwards. */
  message(data: string | Uint8Array): void;
  /** Closes the connection. Called once, after all messages. */
  close(code: number, reason: string): void;
}

interface Entry {
  readonly sizeBytes: number;
  /** Passes the entry to its receiver. Undefined while a Blob is being read. */
  send: ((receiver: MessageReceiver) => void) | undefined;
}

/** Send queue of one WebSocket. Calls of `send` and `close` stay in order, although a Blob is read asynchronously. */
export class SendQueue {
  readonly #waiting: Entry[] = [];
  readonly #receiver: () => MessageReceiver;

  constructor(receiver: () => MessageReceiver) {
    this.#receiver = receiver;
  }

  get bufferedAmount(): number {
    return this.#waiting.reduce((bytes, entry) => bytes + entry.sizeBytes, 0);
  }

  message(data: string | Uint8Array): void {
    this.#add(typeof data === "string" ? Buffer.byteLength(data) : data.byteLength, (receiver) => receiver.message(data));
  }

  close(code: number, reason: string): void {
    this.#add(0, (receiver) => receiver.close(code, reason));
  }

  async blob(blob: Blob): Promise<void> {
    const entry: Entry = { sizeBytes: blob.size, send: undefined };
    this.#waiting.push(entry);
    try {
      const bytes = new Uint8Array(await blob.arrayBuffer());
      entry.send = (receiver) => receiver.message(bytes);
    } catch (error) {
      entry.send = () => undefined;
      throw error;
    } finally {
      while (this.#waiting[0]?.send) this.#waiting.shift()?.send?.(this.#receiver());
    }
  }

  #add(sizeBytes: number, send: (receiver: MessageReceiver) => void): void {
    if (this.#waiting.length === 0) send(this.#receiver());
    else this.#waiting.push({ sizeBytes, send });
  }
}
