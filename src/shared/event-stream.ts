/** Name of the last event of a stream that the daemon ends. The client must then not reconnect. The data of the event is an error body. */
export const endEvent = "end";
/** Maximum length of a line in an event stream, in characters. Parsing throws for a longer line, because the daemon never sends one. */
const longestLine = 4 * 1024 * 1024;

export interface StreamedEvent {
  readonly id: string | undefined;
  /** Name of the event. If the stream sends no name, the name is `message`. */
  readonly event: string;
  readonly data: string;
}

/** Formats an event as text of a `text/event-stream`. */
export function formatEvent({ id, event, data }: { id?: string; event?: string; data: string }): string {
  const lines = data.split(/\r\n|\r|\n/).map((line) => `data: ${line}\n`);
  return `${id === undefined ? "" : `id: ${id}\n`}${event === undefined ? "" : `event: ${event}\n`}${lines.join("")}\n`;
}

/** Parses the events of a `text/event-stream`. Skips comment lines and an incomplete event at the end of the stream. */
export async function* readEventStream(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<StreamedEvent, void> {
  const parser = new EventParser();
  const decoder = new TextDecoder();
  for await (const piece of pieces) yield* parser.push(decoder.decode(piece, { stream: true }));
}

class EventParser {
  #rest = "";
  #id: string | undefined;
  #event = "";
  #data: string[] = [];

  *push(text: string): Generator<StreamedEvent> {
    const buffered = this.#rest + text;
    // A carriage return at the end of the received text can be the first half of a CR LF line end.
    const isHalf = buffered.endsWith("\r");
    const lines = (isHalf ? buffered.slice(0, -1) : buffered).split(/\r\n|\r|\n/);
    this.#rest = (lines.pop() as string) + (isHalf ? "\r" : "");
    if (this.#rest.length > longestLine) throw new Error(`The event stream contains a line of more than ${longestLine} characters.`);
    for (const line of lines) {
      if (line !== "") this.#field(line);
      else {
        if (this.#data.length > 0) yield { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
        this.#event = "";
        this.#data = [];
      }
    }
  }

  #field(line: string): void {
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "id") this.#id = value;
    if (name === "event") this.#event = value;
    if (name === "data") this.#data.push(value);
  }
}
