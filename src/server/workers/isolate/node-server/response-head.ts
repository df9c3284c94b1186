import { lineFeed } from "../../protocol/frames.js";

/** The head of a response that an `http.Server` wrote. */
export interface ResponseHead {
  readonly status: number;
  /**
   * Response headers as lines of the frame protocol: name in lower case, value, next name. Omits headers about the connection, such as
   * `keep-alive`.
   */
  readonly lines: string;
  /** Body length in bytes from the header `Content-Length`. Undefined if the header is missing. */
  readonly length: number | undefined;
  readonly isChunked: boolean;
  /** False if the server closes the connection after this response. */
  readonly isPersistent: boolean;
}

const statusLine = /^HTTP\/1\.[01] (\d{3})(?: |$)/;
/**
 * Maximum number of cached heads. Above this number, no further head is cached until the `Date` header changes, because replacing a cached
 * head takes as much CPU time as a cache hit saves.
 */
const maximumKnownHeads = 64;
/** Maximum length of a cached head in characters. */
const maximumKnownLength = 1024;
/**
 * Maximum difference in ms between a `Date` header and the current time. Node.js writes whole seconds and updates the date once per second.
 */
const nowToleranceMs = 2500;

/** Parses the response heads of one server. Servers write the same head repeatedly, so heads are cached until the `Date` header changes. */
export class ResponseHeads {
  readonly #known = new Map<string, ResponseHead>();
  #latestDate = "";

  /**
   * Parses a head. `text` contains the status line and the header lines without the last line break. Throws if `text` is not a response
   * head.
   */
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
   * Returns whether `date` is the current date, which Node.js adds to each response. In this case, the daemon adds its own `Date` header,
   * which takes less time than forwarding the header.
   */
  #isNow(date: string): boolean {
    if (date === this.#latestDate) return true;
    if (Math.abs(Date.now() - Date.parse(date)) >= nowToleranceMs) return false;
    this.#latestDate = date;
    // Deletes the heads with an earlier date, because no further response has this date.
    this.#known.clear();
    return true;
  }
}
