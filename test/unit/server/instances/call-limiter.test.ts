import { expect, test } from "vitest";
import { CallLimiter } from "../../../../src/server/instances/call-limiter.js";

const endless = new AbortController().signal;

/** Returns a function that acquires a call and then adds its name to `order`. After an abort, it adds `no` and the name. */
function acquirer(limiter: CallLimiter, order: string[]) {
  return (daemon: string, name: string, signal = endless) => {
    void limiter.acquire(daemon, signal).then((isAcquired) => order.push(isAcquired ? name : `no ${name}`));
  };
}

const settled = async () => new Promise((resolve) => setImmediate(resolve));

test("calls that wait for one daemon do not delay calls to another daemon", async () => {
  const limiter = new CallLimiter({ total: 4, perDaemon: 2 });
  const order: string[] = [];
  const acquire = acquirer(limiter, order);
  for (const name of ["b1", "b2", "b3", "b4"]) acquire("b", name);
  for (const name of ["c1", "c2", "c3"]) acquire("c", name);
  await settled();
  expect(order).toEqual(["b1", "b2", "c1", "c2"]);

  limiter.release("c");
  await settled();
  expect(order.slice(4)).toEqual(["c3"]);
  limiter.release("b");
  limiter.release("b");
  await settled();
  expect(order.slice(5)).toEqual(["b3", "b4"]);
});

test("the total number of running calls is limited; the oldest waiting call is next", async () => {
  const limiter = new CallLimiter({ total: 2, perDaemon: 2 });
  const order: string[] = [];
  const acquire = acquirer(limiter, order);
  for (const daemon of ["b", "c", "d", "e"]) acquire(daemon, daemon);
  await settled();
  expect(order).toEqual(["b", "c"]);

  limiter.release("c");
  limiter.release("b");
  await settled();
  expect(order.slice(2)).toEqual(["d", "e"]);
});

test("a waiting call leaves the queue when it is aborted", async () => {
  const limiter = new CallLimiter({ total: 1, perDaemon: 1 });
  const order: string[] = [];
  const acquire = acquirer(limiter, order);
  const leaving = new AbortController();
  acquire("b", "first");
  acquire("b", "second", leaving.signal);
  acquire("b", "third");
  leaving.abort();
  await settled();
  expect(order).toEqual(["first", "no second"]);

  limiter.release("b");
  await settled();
  expect(order.slice(2)).toEqual(["third"]);
  expect(await limiter.acquire("b", AbortSignal.abort())).toBe(false);
});
