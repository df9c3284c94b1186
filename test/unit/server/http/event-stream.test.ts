import { expect, test } from "vitest";
import { formatEvent, readEventStream, type StreamedEvent } from "../../../../src/shared/event-stream.js";

/** Parses a stream that arrives in these chunks. */
async function parse(pieces: Iterable<string>): Promise<StreamedEvent[]> {
  const encoder = new TextEncoder();
  async function* encoded() {
    for (const piece of pieces) yield encoder.encode(piece);
  }
  const events: StreamedEvent[] = [];
  for await (const event of readEventStream(encoded())) events.push(event);
  return events;
}

function* repeated(piece: string, count: number) {
  for (let index = 0; index < count; index += 1) yield piece;
}

test("the event stream parser accepts every kind of line end, even split in two chunks", async () => {
  const text = `: hello\n\n${formatEvent({ id: "7", event: "note", data: "one\ntwo" })}${formatEvent({ data: "three" })}`;
  const expected = [
    { id: "7", event: "note", data: "one\ntwo" },
    { id: "7", event: "message", data: "three" },
  ];
  for (const lineEnd of ["\n", "\r", "\r\n"]) {
    const sent = text.replaceAll("\n", lineEnd);
    expect(await parse([sent])).toEqual(expected);
    expect(await parse(sent)).toEqual(expected);
  }
});

test("the event stream parser rejects an event of more than 1 Mi characters", async () => {
  const message = "The event stream contains an event of more than 1048576 characters.";
  await expect(parse(repeated("data: x\n", 200_000))).rejects.toThrow(message);
  await expect(parse(repeated("x".repeat(1024), 1025))).rejects.toThrow(message);
  expect(await parse(repeated(`data: ${"x".repeat(1000)}\n\n`, 2000))).toHaveLength(2000);
});

test("the event stream parser parses a line of 200,000 chunks within 5 s", async () => {
  const startedAtMs = performance.now();
  await parse([...repeated("x".repeat(4), 200_000), "\n\n"]);
  expect(performance.now() - startedAtMs).toBeLessThan(5000);
});
