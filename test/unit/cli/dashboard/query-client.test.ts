import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CommandError } from "../../../../src/cli/command/command-error.js";
import { exitCodes } from "../../../../src/cli/command/exit-codes.js";
import { QueryClient } from "../../../../src/cli/dashboard/queries/query-client.js";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const unreachable = () => new CommandError("UNREACHABLE", "connection refused", { exitCode: exitCodes.unavailable });

/** A fake daemon that records the time of each request. */
function daemon() {
  const asked: number[] = [];
  const state = { isThere: true, answer: 1 };
  const ask = async () => {
    asked.push(Date.now());
    if (!state.isThere) throw unreachable();
    return { answer: state.answer };
  };
  return { asked, state, ask };
}

function liveData() {
  const refused: Error[] = [];
  const live = new QueryClient({ refreshMs: 2000, onRefused: (error) => refused.push(error) });
  return { live, refused };
}

test("the query client sends its first requests at once, then at most two per second", async () => {
  const [{ live }, { asked, ask }] = [liveData(), daemon()];
  for (const name of ["a", "b", "c", "d", "e"]) live.resource(name, ask).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toHaveLength(5);
  await vi.advanceTimersByTimeAsync(20_000);
  const later = asked.slice(5);
  expect(later.length).toBeGreaterThan(30);
  for (const [index, at] of later.entries()) if (index > 0) expect(at - (later[index - 1] ?? 0)).toBeGreaterThanOrEqual(500);
  live.close();
});

test("the query client sends no requests for a query that no component shows", async () => {
  const [{ live }, { asked, ask }] = [liveData(), daemon()];
  const leave = live.resource("a", ask).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  leave();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(asked).toHaveLength(1);
  live.close();
});

test("the query client polls a query at the shortest interval of its components", async () => {
  const [{ live }, { asked, ask }] = [liveData(), daemon()];
  const resource = live.resource("a", ask);
  resource.subscribe(() => {}, 10_000);
  await vi.advanceTimersByTimeAsync(9_999);
  expect(asked).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(1);
  expect(asked).toHaveLength(2);
  const leave = resource.subscribe(() => {}, 2000);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(7);
  leave();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked).toHaveLength(8);
  live.close();
});

test("the query client does not notify subscribers when the response is unchanged", async () => {
  const [{ live }, { asked, state, ask }] = [liveData(), daemon()];
  const told = vi.fn<() => void>();
  live.resource("a", ask).subscribe(told);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(asked.length).toBeGreaterThan(3);
  expect(told).toHaveBeenCalledTimes(1);
  state.answer = 2;
  await vi.advanceTimersByTimeAsync(2000);
  expect(told).toHaveBeenCalledTimes(2);
  live.close();
});

test("the query client keeps data of an unreachable daemon and retries after 1 to 30 s", async () => {
  const [{ live, refused }, { asked, state, ask }] = [liveData(), daemon()];
  const [first, second] = [live.resource("a", ask), live.resource("b", ask)];
  first.subscribe(() => {});
  second.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  state.isThere = false;
  await vi.advanceTimersByTimeAsync(10_000);
  expect(live.contact()).toMatchObject({ kind: "away", error: { message: "connection refused" } });
  expect(first.state().value).toEqual({ answer: 1 });
  await vi.advanceTimersByTimeAsync(300_000);
  const gapsMs = asked.slice(4).map((at, index) => at - (asked[index + 3] ?? 0));
  expect(Math.min(...gapsMs)).toBeGreaterThanOrEqual(1000);
  expect(Math.max(...gapsMs)).toBeLessThanOrEqual(30_000);
  expect(Math.max(...gapsMs)).toBeGreaterThanOrEqual(15_000);
  state.isThere = true;
  state.answer = 2;
  await vi.advanceTimersByTimeAsync(30_000);
  expect(live.contact()).toEqual({ kind: "live" });
  expect([first.state(), second.state()]).toEqual([
    { value: { answer: 2 }, error: undefined },
    { value: { answer: 2 }, error: undefined },
  ]);
  expect(refused).toEqual([]);
  live.close();
});

test("refresh() sends a request immediately, even to an unreachable daemon", async () => {
  const [{ live }, { asked, state, ask }] = [liveData(), daemon()];
  state.isThere = false;
  live.resource("a", ask).subscribe(() => {});
  await vi.advanceTimersByTimeAsync(60_000);
  const before = asked.length;
  live.refresh();
  await vi.advanceTimersByTimeAsync(0);
  expect(asked).toHaveLength(before + 1);
  live.close();
});

test("the query client reports a rejected API key, not an unreachable daemon", async () => {
  const { live, refused } = liveData();
  const error = new CommandError("NOT_SIGNED_IN", "no key", { exitCode: exitCodes.notAuthenticated });
  const resource = live.resource("a", () => Promise.reject(error));
  resource.subscribe(() => {});
  await vi.advanceTimersByTimeAsync(0);
  expect(refused).toEqual([error]);
  expect(resource.state().error).toBe(error);
  expect(live.contact()).toEqual({ kind: "live" });
  live.close();
});
