import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { Toasts } from "../../../src/cpanel/components/toasts.js";
import { EventSubscription } from "../../../src/cpanel/live/event-subscription.js";
import { QueryState } from "../../../src/cpanel/live/query-state.js";
import { Observable } from "../../../src/cpanel/live/observable.js";
import { Resources } from "../../../src/cpanel/live/resources.js";
import { createClient, type Operations } from "../../../src/shared/client.js";
import { WireAnswer } from "../../support/fake-daemon.js";
import { FakeStream, FakeTransport } from "../../support/fake-transport.js";
import { operator } from "./sample-data.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** Returns a request function that counts its calls, and the state that determines its result. */
function question() {
  const state = { value: 1, failure: undefined as Error | undefined };
  const ask = vi.fn<() => Promise<number>>(async () => {
    if (state.failure) throw state.failure;
    return state.value;
  });
  return { state, ask };
}

const open = { isOpen: () => true, leastIntervalMs: () => 0 };

describe("Observable", () => {
  test("notifies subscribers only of changed values, and only until they unsubscribe", () => {
    const observable = new Observable(1);
    const listener = vi.fn<() => void>();
    const stop = observable.subscribe(listener);
    observable.set(1);
    expect(listener).not.toHaveBeenCalled();
    observable.set(2);
    expect(listener).toHaveBeenCalledTimes(1);
    stop();
    observable.set(3);
    expect(listener).toHaveBeenCalledTimes(1);
    expect(observable.get()).toBe(3);
  });
});

describe("QueryState", () => {
  test("requests data immediately and at each interval until the watcher stops", async () => {
    const [resource, { ask }] = [new QueryState<number>(open), question()];
    const leave = resource.watch(ask, 5000);
    await vi.advanceTimersByTimeAsync(0);
    expect(resource.state.get()).toMatchObject({ data: 1, error: undefined, isAsking: false });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(ask).toHaveBeenCalledTimes(3);
    leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(ask).toHaveBeenCalledTimes(3);
  });

  test("keeps its data after a failure, and doubles the interval after each failure", async () => {
    const [resource, { ask, state }] = [new QueryState<number>(open), question()];
    resource.watch(ask, 5000);
    await vi.advanceTimersByTimeAsync(0);
    state.failure = new Error("refused");
    await vi.advanceTimersByTimeAsync(5000);
    expect(resource.state.get()).toMatchObject({ data: 1, error: state.failure });
    await vi.advanceTimersByTimeAsync(9999);
    expect(ask).toHaveBeenCalledTimes(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(ask).toHaveBeenCalledTimes(3);
    state.failure = undefined;
    await vi.advanceTimersByTimeAsync(20_000);
    expect(resource.state.get()).toMatchObject({ data: 1, error: undefined });
  });

  test("sends one request when the interval is infinite", async () => {
    const [resource, { ask }] = [new QueryState<number>(open), question()];
    resource.watch(ask, Infinity);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(ask).toHaveBeenCalledTimes(1);
  });

  test("requests no data until isOpen returns true", async () => {
    const { ask } = question();
    let isOpen = false;
    const resource = new QueryState<number>({ ...open, isOpen: () => isOpen });
    resource.watch(ask, 5000);
    await vi.advanceTimersByTimeAsync(20_000);
    expect(ask).not.toHaveBeenCalled();
    isOpen = true;
    resource.wake();
    await vi.advanceTimersByTimeAsync(0);
    expect(resource.state.get().data).toBe(1);
  });

  test("requests data again after a change, even while a request is pending", async () => {
    const responses = [Promise.withResolvers<number>(), Promise.withResolvers<number>()] as const;
    const ask = vi.fn<() => Promise<number>>();
    for (const { promise } of responses) ask.mockReturnValueOnce(promise);
    const resource = new QueryState<number>(open);
    resource.watch(ask, Infinity);
    const refreshed = resource.refreshAfterChange();
    expect(ask).toHaveBeenCalledTimes(1);
    responses[0].resolve(1);
    responses[1].resolve(2);
    await refreshed;
    expect(ask).toHaveBeenCalledTimes(2);
    expect(resource.state.get().data).toBe(2);
  });
});

describe("Resources", () => {
  test("returns the same resource for the same name until forget() is called", () => {
    const resources = new Resources({ isOpen: () => true });
    const first = resources.of("workers");
    expect(resources.of("workers")).toBe(first);
    resources.forget();
    expect(resources.of("workers")).not.toBe(first);
  });

  test("polls workers at most once per 60 s while the event stream is open", async () => {
    const [workers, metrics] = [question(), question()];
    const resources = new Resources({ isOpen: () => true });
    resources.of<number>("workers").watch(workers.ask, 1000);
    resources.of<number>("metrics").watch(metrics.ask, 1000);
    await vi.advanceTimersByTimeAsync(0);
    resources.setFed(true);
    await vi.advanceTimersByTimeAsync(59_000);
    expect(workers.ask).toHaveBeenCalledTimes(1);
    expect(metrics.ask.mock.calls.length).toBeGreaterThan(50);
    resources.setFed(false);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(workers.ask).toHaveBeenCalledTimes(2);
  });

  test("reloads only changed resources and the files of changed packages", async () => {
    const names = ["workers", "files.workers.shop", "files.roots.workers.shop", "plugins", "keys", "metrics"];
    const resources = new Resources({ isOpen: () => true });
    const questions = names.map((name) => {
      const { ask } = question();
      resources.of<number>(name).watch(ask, Infinity);
      return { name, ask };
    });
    await vi.advanceTimersByTimeAsync(0);
    resources.touch(new Set(["workers"]));
    await vi.advanceTimersByTimeAsync(0);
    const askedTwice = questions.filter(({ ask }) => ask.mock.calls.length === 2).map(({ name }) => name);
    expect(askedTwice).toEqual(["workers", "files.workers.shop", "files.roots.workers.shop"]);
  });
});

function openFeed(answer: unknown) {
  const transport = new FakeTransport({ "/api/events": answer });
  const heard = { fed: [] as boolean[], touched: [] as string[][], refusals: 0 };
  const feed = new EventSubscription({
    connection: { client: <Offered extends Operations>(offered: Offered) => createClient(transport.send, "/api", offered) },
    onFed: (isFed) => heard.fed.push(isFed),
    onTouched: (touched) => heard.touched.push([...touched]),
    onRefused: () => (heard.refusals += 1),
  });
  return { transport, heard, feed };
}
const event = (id: number, type: string) => ({ id, type, at: 0 });

describe("EventSubscription", () => {
  test("reports all resources when the stream opens, then the resources of each event", async () => {
    const stream = new FakeStream([event(1, "stream.opened")]);
    const { heard, feed } = openFeed(stream);
    feed.setReader(operator);
    await vi.advanceTimersByTimeAsync(0);
    expect(heard.fed.at(-1)).toBe(true);
    expect(heard.touched).toEqual([["workers", "plugins", "hosts", "secrets", "keys", "instances", "health"]]);
    await vi.advanceTimersByTimeAsync(1000);
    stream.send(event(2, "key.revoked"));
    await vi.advanceTimersByTimeAsync(0);
    expect(heard.touched.at(-1)).toEqual(["keys"]);
    feed.setReader(undefined);
  });

  test("combines the events of 500 ms into one change", async () => {
    const stream = new FakeStream([event(1, "stream.opened")]);
    const { heard, feed } = openFeed(stream);
    feed.setReader(operator);
    await vi.advanceTimersByTimeAsync(0);
    for (const [index, type] of ["worker.installed", "worker.enabled", "key.created"].entries()) stream.send(event(index + 2, type));
    await vi.advanceTimersByTimeAsync(400);
    expect(heard.touched).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(100);
    expect(heard.touched.slice(1)).toEqual([["workers", "keys"]]);
    feed.setReader(undefined);
  });

  test("reopens a lost stream after 1 s, then after 2 s", async () => {
    const { transport, heard, feed } = openFeed(new WireAnswer(503, "{}"));
    feed.setReader(operator);
    await vi.advanceTimersByTimeAsync(0);
    expect(transport.requests).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1000);
    expect(transport.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1999);
    expect(transport.requests).toHaveLength(2);
    await vi.advanceTimersByTimeAsync(1);
    expect(transport.requests).toHaveLength(3);
    expect(heard.fed).not.toContain(true);
    feed.setReader(undefined);
  });

  test("stops and calls onRefused when the daemon rejects the credential", async () => {
    const { transport, heard, feed } = openFeed(WireAnswer.refusal(401, "AUTH_REQUIRED", "Sign in."));
    feed.setReader(operator);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(heard.refusals).toBe(1);
    expect(transport.requests).toHaveLength(1);
  });

  test("closes the event stream when the user signs out", async () => {
    const stream = new FakeStream([event(1, "stream.opened")]);
    const { heard, feed } = openFeed(stream);
    feed.setReader(operator);
    await vi.advanceTimersByTimeAsync(0);
    feed.setReader(undefined);
    expect(stream.readerCount).toBe(0);
    expect(heard.fed.at(-1)).toBe(false);
  });
});

describe("Toasts", () => {
  test("shows the last 3 messages, and shows a message with a button for at most 12 s", async () => {
    const toasts = new Toasts();
    for (const text of ["one", "two", "three", "four"]) toasts.say(text);
    expect(toasts.shown.get().map(({ text }) => text)).toEqual(["two", "three", "four"]);
    toasts.say("undo me", { action: { label: "Undo", run: () => {} } });
    await vi.advanceTimersByTimeAsync(6000);
    expect(toasts.shown.get().map(({ text }) => text)).toEqual(["undo me"]);
    await vi.advanceTimersByTimeAsync(6000);
    expect(toasts.shown.get()).toEqual([]);
  });

  test("replaces an earlier message about the same subject", () => {
    const toasts = new Toasts();
    toasts.say("board failed to load", { subject: "board", tone: "danger" });
    toasts.say("shop is deleted");
    toasts.say("board is loaded", { subject: "board" });
    expect(toasts.shown.get().map(({ text }) => text)).toEqual(["shop is deleted", "board is loaded"]);
    toasts.dismissAbout("board");
    expect(toasts.shown.get().map(({ text }) => text)).toEqual(["shop is deleted"]);
  });
});
