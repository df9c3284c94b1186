/**
 * Name of the event with which the daemon ends a stream. After this event, the client must not reconnect. The data of the event is an error
 * body.
 */
export const endEvent = "end";
/** Maximum length of an event with its comments, in characters. Parsing throws for a longer event, because the daemon never sends one. */
const longestEvent = 1024 * 1024;

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
  /** The received part of a line without its end. */
  #rest = "";
  /**
   * Whether the last text ended with a carriage return. A line feed at the beginning of the next text then belongs to the same line break.
   */
  #isHalf = false;
  #characters = 0;
  #id: string | undefined;
  #event = "";
  #data: string[] = [];

  *push(text: string): Generator<StreamedEvent> {
    if (text === "") return;
    const lines = (this.#isHalf && text.startsWith("\n") ? text.slice(1) : text).split(/\r\n|\r|\n/);
    this.#isHalf = text.endsWith("\r");
    const rest = lines.pop() as string;
    for (const line of lines) {
      this.#add(line);
      const whole = this.#rest;
      this.#rest = "";
      if (whole !== "") this.#field(whole);
      else {
        if (this.#data.length > 0) yield { id: this.#id, event: this.#event || "message", data: this.#data.join("\n") };
        this.#event = "";
        this.#data = [];
        this.#characters = 0;
      }
    }
    this.#add(rest);
  }

  #add(text: string): void {
    this.#rest += text;
    this.#characters += text.length;
    if (this.#characters > longestEvent) throw new Error(`The event stream contains an event of more than ${longestEvent} characters.`);
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
