import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Graphemes } from "../../../src/cli/tui/graphemes.js";

const characters = fc.constantFrom("a", " ", "\u001b[31m", "\r", "\n", "\u00ad", "é", "e\u0301", "…", "│", "漢", "👩‍👩‍👧", "🇩🇪", "\u200b");

test("text is taken apart as Intl.Segmenter takes it apart", () => {
  const text = fc.array(characters, { maxLength: 12 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.nat(40), (sample, index) => {
      const expected = new Intl.Segmenter().segment(sample);
      const segments = new Graphemes().segment(sample);
      expect(plainly(segments)).toEqual(plainly(expected));
      expect(segments.containing(index)?.segment).toBe(expected.containing(index)?.segment);
    }),
  );
});

function plainly(segments: Iterable<{ segment: string; index: number }>) {
  return [...segments].map(({ segment, index }) => [segment, index]);
}
