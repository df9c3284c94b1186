import { expect, test } from "vitest";
import { RuntimeEvents } from "../../../../src/server/events/runtime-events.js";
import type { RuntimeEvent } from "../../../../src/shared/contract/events.js";

const all = () => true;
const start = { lastEventId: undefined, sinceMs: undefined };

function eventsOf(kept: number) {
  let nowMs = 1_800_000_000_000;
  const events = new RuntimeEvents({ now: () => (nowMs += 1), kept });
  return { events, startId: nowMs * 1000, tell: (name: string) => events.publish({ type: "worker.deleted", subject: { name } }) };
}

/** Returns the subject's name for each event of the next batch, or the type for an event about the stream itself. */
async function next(stream: AsyncGenerator<RuntimeEvent[]>): Promise<string[]> {
  const { value } = await stream.next();
  return ((value ?? []) as RuntimeEvent[]).map(({ type, subject }) => subject?.name ?? type);
}

test("a slow event reader receives a gap event for missed events, then later events", async () => {
  const { events, tell } = eventsOf(3);
  const stream = events.follow(all, start, new AbortController().signal);
  expect(await next(stream)).toEqual(["stream.opened"]);
  for (let index = 0; index < 20; index += 1) tell(`w${index}`);
  const batch = await next(stream);
  expect(batch[0]).toBe("stream.gap");
  expect(batch.at(-1)).toBe("w19");
  expect(batch.length).toBeLessThanOrEqual(7);
  tell("w20");
  expect(await next(stream)).toEqual(["w20"]);
  await stream.return(undefined);
  expect(events.followerCount).toBe(0);
});

test("an event reader receives no gap event while all missed events are still stored", async () => {
  const { events, startId, tell } = eventsOf(5);
  for (const name of ["a", "b", "c"]) tell(name);
  const from = (lastEventId: number) => next(events.follow(all, { ...start, lastEventId }, new AbortController().signal));
  expect(await from(startId)).toEqual(["b", "c"]);
  expect(await from(startId - 1)).toEqual(["a", "b", "c"]);
  expect((await from(startId - 2))[0]).toBe("stream.gap");
  expect(await from(startId + 999)).toEqual(["stream.gap"]);
});

test("a reader with a start time receives a gap event only if later events are missing", async () => {
  const { events, startId, tell } = eventsOf(5);
  for (const name of ["a", "b", "c"]) tell(name);
  const from = (sinceMs: number) => next(events.follow(all, { ...start, sinceMs }, new AbortController().signal));
  const startedAtMs = startId / 1000;
  expect(await from(startedAtMs - 1)).toEqual(["stream.gap", "a", "b", "c"]);
  expect(await from(startedAtMs)).toEqual(["stream.opened", "a", "b", "c"]);
  expect(await from(startedAtMs + 3)).toEqual(["stream.opened", "c"]);
  expect(await from(startedAtMs + 60_000)).toEqual(["stream.opened"]);
});
