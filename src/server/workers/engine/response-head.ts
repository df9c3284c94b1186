import { mayWorkerRespondWith } from "../../web/response-headers.js";
import { lineFeed } from "../protocol/frames.js";

/** Validated response headers of a worker. */
export interface ResponseHead {
  /** Header names and values in turn: name, value, name, value. */
  readonly pairs: readonly string[];
  /** The headers of `pairs` as they are sent, one line `name: value` per header. */
  readonly lines: string;
  /** True when the worker set its own `Date` header. */
  readonly hasDate: boolean;
  /** `Content-Length` of the worker's response. Used only if the response has no body bytes, such as the response to HEAD. */
  readonly claimedLength: number | undefined;
}

const tokenPattern = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
const valuePattern = /^[\t\x20-\x7e\x80-\xff]*$/;
const maximumHeaders = 200;

/**
 * Parses and checks the header lines that an isolate has sent. Returns undefined if a name or value is invalid, or if there are too many
 * headers.
 */
function readResponseHead(text: string, ownsOrigin: boolean): ResponseHead | undefined {
  const pairs: string[] = [];
  let wireLines = "";
  let hasDate = false;
  let claimedLength: number | undefined;
  if (text === "") return { pairs, lines: wireLines, hasDate, claimedLength };
  const lines = text.split(lineFeed);
  if (lines.length % 2 !== 0 || lines.length > maximumHeaders * 2) return undefined;
  for (let index = 0; index < lines.length; index += 2) {
    const name = lines[index] as string;
    const value = lines[index + 1] as string;
    if (!tokenPattern.test(name) || !valuePattern.test(value)) return undefined;
    const lower = name.toLowerCase();
    if (lower === "content-length" && /^\d{1,15}$/.test(value)) claimedLength = Number(value);
    if (!mayWorkerRespondWith(lower, value, { ownsOrigin })) continue;
    hasDate ||= lower === "date";
    pairs.push(name, value);
    wireLines += `${name}: ${value}\r\n`;
  }
  return { pairs, lines: wireLines, hasDate, claimedLength };
}

/** Parses response headers, and caches the result, because workers send the same headers repeatedly. */
export class ResponseHeads {
  readonly #known = new Map<string, ResponseHead>();
  readonly #ownsOrigin: boolean;

  /** `ownsOrigin` is true if the requests were sent to a host name of the worker. */
  constructor({ ownsOrigin }: { readonly ownsOrigin: boolean }) {
    this.#ownsOrigin = ownsOrigin;
  }

  read(text: string): ResponseHead | undefined {
    const known = this.#known.get(text);
    if (known) return known;
    const head = readResponseHead(text, this.#ownsOrigin);
    if (!head || text.length > 512) return head;
    if (this.#known.size >= 64) this.#known.clear();
    this.#known.set(text, head);
    return head;
  }
}
