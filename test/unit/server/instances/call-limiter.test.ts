import { expect, test } from "vitest";
import { CallPlaces } from "../../../../src/server/instances/call-places.js";

const endless = new AbortController().signal;

/** Returns a function that takes a place and then adds its name to `order`. After an abort, it adds `no` and the name. */
function taker(places: CallPlaces, order: string[]) {
  return (daemon: string, name: string, signal = endless) => {
    void places.take(daemon, signal).then((hasPlace) => order.push(hasPlace ? name : `no ${name}`));
  };
}

const settled = async () => new Promise((resolve) => setImmediate(resolve));

test("calls that wait for one daemon do not delay calls to another daemon", async () => {
  const places = new CallPlaces({ total: 4, perDaemon: 2 });
  const order: string[] = [];
  const take = taker(places, order);
  for (const name of ["b1", "b2", "b3", "b4"]) take("b", name);
  for (const name of ["c1", "c2", "c3"]) take("c", name);
  await settled();
  expect(order).toEqual(["b1", "b2", "c1", "c2"]);

  places.release("c");
  await settled();
  expect(order.slice(4)).toEqual(["c3"]);
  places.release("b");
  places.release("b");
  await settled();
  expect(order.slice(5)).toEqual(["b3", "b4"]);
});

test("the total number of running calls is limited; the oldest waiting call is next", async () => {
  const places = new CallPlaces({ total: 2, perDaemon: 2 });
  const order: string[] = [];
  const take = taker(places, order);
  for (const daemon of ["b", "c", "d", "e"]) take(daemon, daemon);
  await settled();
  expect(order).toEqual(["b", "c"]);

  places.release("c");
  places.release("b");
  await settled();
  expect(order.slice(2)).toEqual(["d", "e"]);
});

test("a waiting call leaves the queue when it is aborted", async () => {
  const places = new CallPlaces({ total: 1, perDaemon: 1 });
  const order: string[] = [];
  const take = taker(places, order);
  const leaving = new AbortController();
  take("b", "first");
  take("b", "second", leaving.signal);
  take("b", "third");
  leaving.abort();
  await settled();
  expect(order).toEqual(["first", "no second"]);

  places.release("b");
  await settled();
  expect(order.slice(2)).toEqual(["third"]);
  expect(await places.take("b", AbortSignal.abort())).toBe(false);
});
