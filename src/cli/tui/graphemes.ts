/** Each code unit is a character that a person sees, or a control character. */
// oxlint-disable-next-line no-control-regex -- control characters are among what stands for itself
const oneEach = /^[\0-\x0c\x0e-\xac\xae-\xff\u2026\u2192\u2500-\u257f]*$/;

/**
 * What Intl.Segmenter is for graphemes, without its data while text is simple: to load them takes a fifth of an empty Node's start, and
 * Ink takes every line of every frame apart. The build puts this in its place in the packages that Ink stands on.
 */
export class Graphemes {
  #segmenter: Intl.Segmenter | undefined;

  segment(text: string): Segments {
    if (oneEach.test(text)) return new UnitSegments(text);
    this.#segmenter ??= new globalThis.Intl.Segmenter();
    return this.#segmenter.segment(text);
  }
}

interface Segment {
  readonly segment: string;
  readonly index: number;
}

interface Segments extends Iterable<Segment> {
  containing(index?: number): Segment | undefined;
}

/** The segments of a text that has one at each code unit. */
class UnitSegments implements Segments {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  containing(index = 0): Segment | undefined {
    const segment = this.#text[index];
    return segment === undefined ? undefined : { segment, index };
  }

  [Symbol.iterator](): Iterator<Segment> {
    const segments: Segment[] = [];
    for (let index = 0; index < this.#text.length; index += 1) segments.push({ segment: this.#text[index] ?? "", index });
    return segments[Symbol.iterator]();
  }
}
