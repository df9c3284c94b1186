import { setImmediate as turn } from "node:timers/promises";
import { expect, test } from "vitest";
import { CompileQueue } from "../../../../../src/server/workers/typescript/typescript-compiler.js";

/** Creates a queue whose jobs run until `end`. */
function startQueue() {
  const queue = new CompileQueue();
  const running: { owner: string; end: (tookTooLong: boolean) => void }[] = [];
  return {
    add: (owner: string): void =>
      void queue.run(
        owner,
        () => new Promise<boolean>((end) => running.push({ owner, end })),
        (tookTooLong) => tookTooLong,
      ),
    running: () => running.map(({ owner }) => owner),
    async end(owner: string, tookTooLong = false): Promise<void> {
      const index = running.findIndex((work) => work.owner === owner);
      running.splice(index, 1)[0]?.end(tookTooLong);
      await turn();
    },
  };
}

test("the compile queue runs one compilation per worker, and at most two at a time", async () => {
  const queue = startQueue();
  for (const owner of ["a", "a", "a", "b", "c"]) queue.add(owner);
  await turn();
  expect(queue.running()).toEqual(["a", "b"]);
  await queue.end("b");
  expect(queue.running()).toEqual(["a", "c"]);
  await queue.end("a");
  expect(queue.running()).toEqual(["c", "a"]);
});

test("the compile queue reserves one slot for workers without a slow compilation", async () => {
  const queue = startQueue();
  for (const owner of ["slow-1", "slow-2"]) queue.add(owner);
  await turn();
  for (const owner of ["slow-1", "slow-2"]) await queue.end(owner, true);
  for (const owner of ["slow-1", "slow-2", "new"]) queue.add(owner);
  await turn();
  expect(queue.running()).toEqual(["slow-1", "new"]);
  await queue.end("new");
  expect(queue.running()).toEqual(["slow-1"]);
  await queue.end("slow-1");
  expect(queue.running()).toEqual(["slow-2"]);
});
