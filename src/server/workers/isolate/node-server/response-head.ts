import { lineFeed } from "../../protocol/frames.js";

/** The head of a response that an `http.Server` wrote. */
export interface ResponseHead {
  readonly status: number;
  /**
   * Response headers as text lines of the frame protocol: lower-case name and value alternately. Without headers about the connection, such
   * as `keep-alive`.
   */
  readonly lines: string;
  /** Body length in bytes from the `Content-Length` header; undefined = unknown. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** False if the server closes the connection after the response. */
  readonly isPersistent: boolean;
}

const statusLine = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
/**
 * Maximum number of cached heads. Further heads are parsed each time until the `Date` header changes, because replacing heads costs as much
 * CPU time as a hit saves.
 */
const maximumKnownHeads = 64;
/** Maximum length of a cached head in characters. */
const maximumKnownLength = 1024;
/**
 * Tolerance for comparing a `Date` header with the current time. Node.js writes dates in whole seconds and updates the date once per
 * second.
 */
const nowToleranceMs = 2500;

/**
 * Parses the response heads of one server. Caches heads until the `Date` header changes, because servers write the same heads repeatedly.
 */
export class ResponseHeads {
  readonly #known = new Map<string, ResponseHead>();
  #latestDate = "";

  /** `text`: status line and header lines, without the line end of the last line. Throws for text that is not a response head. */
  read(text: string): ResponseHead {
    const known = this.#known.get(text);
    if (known) return known;
    const head = this.#parse(text);
    if (this.#known.size < maximumKnownHeads && text.length <= maximumKnownLength) this.#known.set(text, head);
    return head;
  }

  #parse(text: string): ResponseHead {
    const texts = text.split("\r\n");
    const status = Number(statusLine.exec(texts[0] as string)?.[1]);
    if (!status) throw new Error("The server wrote bytes that are not an HTTP response.");
    const lines: string[] = [];
    let length: number | undefined;
    let isChunked = false;
    let isPersistent = true;
    for (let index = 1; index < texts.length; index += 1) {
      const line = texts[index] as string;
      const colon = line.indexOf(":");
      const name = line.slice(0, colon).toLowerCase();
      const value = line.slice(colon + 1).trim();
      if (name === "connection") {
        if (value.toLowerCase() === "close") isPersistent = false;
      } else if (name === "transfer-encoding") isChunked = value.toLowerCase() === "chunked";
      else if (name !== "keep-alive" && name !== "trailer" && !(name === "date" && this.#isNow(value))) {
        if (name === "content-length") length = Number(value);
        lines.push(name, value);
      }
    }
    return { status, lines: lines.join(lineFeed), length, isChunked, isPersistent };
  }

  /**
   * Returns whether `date` is the date that Node.js adds to each response. The daemon adds a `Date` header itself, which costs less than
   * forwarding the header.
   */
  #isNow(date: string): boolean {
    if (date === this.#latestDate) return true;
    if (Math.abs(Date.now() - Date.parse(date)) >= nowToleranceMs) return false;
    this.#latestDate = date;
    // Heads with an earlier date are not current any more.
    this.#known.clear();
    return true;
  }
}
