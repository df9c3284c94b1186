import { describe, expect, it } from "vitest";
import { DataFolder, type StoringIsolate } from "../../../../../src/server/workers/data/data-folder.js";

const usage = (bytes: number, largestFileBytes = 0) => ({ bytes, entries: 1, largestFileBytes });

function openFolder({ limitBytes = 1000 } = {}): DataFolder {
  const data = new DataFolder("shop", "/data/shop");
  data.limitBytes = limitBytes;
  return data;
}

/** An isolate that ends when it is drained, or only when it is killed. */
async function isolateOf(data: DataFolder, { ignoresDrain = false, isLoading = false } = {}) {
  const lease = await data.lease();
  const exited = Promise.withResolvers<void>();
  const end = (): void => {
    data.release(lease);
    exited.resolve();
  };
  const kills: string[] = [];
  const isolate: StoringIsolate = {
    pid: 1,
    exited: exited.promise,
    drain: () => void (ignoresDrain || end()),
    kill: (reason) => {
      kills.push(reason);
      end();
    },
  };
  lease.isolate = isolate;
  if (!isLoading) data.noteLoaded(lease);
  return { isolate, kills, end, lease };
}

describe("a data folder", () => {
  it("is full above its size limit, and writable again at 95 % of the limit", () => {
    const data = openFolder();
    expect([data.note(usage(1000), 0), data.isFull]).toEqual([false, false]);
    expect([data.note(usage(1001), 0), data.isFull]).toEqual([true, true]);
    expect([data.note(usage(960), 0), data.isFull]).toEqual([false, true]);
    expect([data.note(usage(950), 0), data.isFull]).toEqual([true, false]);
  });

  it("allows files up to the free space plus the size of its largest file", async () => {
    const data = openFolder();
    expect((await data.lease()).grant).toEqual({ folder: "/data/shop", access: "write", largestFileBytes: 1000 });
    data.note(usage(600, 300), 0);
    expect((await data.lease()).grant).toMatchObject({ access: "write", largestFileBytes: 700 });
    data.note(usage(100, 5000), 0);
    expect((await data.lease()).grant).toMatchObject({ access: "write", largestFileBytes: 1000 });
  });

  it("allows only the deletion of files while it is full", async () => {
    const data = openFolder();
    data.note(usage(2000), 0);
    expect((await data.lease()).grant).toMatchObject({ access: "remove", largestFileBytes: 0 });
  });

  it("lists as writers only isolates that started before the folder was full", async () => {
    const data = openFolder();
    const before = await isolateOf(data);
    data.note(usage(2000), 0);
    const after = await isolateOf(data);
    expect(data.writers).toEqual([before.isolate]);
    expect(data.isolates).toEqual([before.isolate, after.isolate]);
  });

  it("is used by no isolate during an action; new isolates wait until the action ends", async () => {
    const data = openFolder();
    await isolateOf(data);
    const action = Promise.withResolvers<string>();
    const events: string[] = [];
    const paused = data.pauseFor(60_000, async () => {
      events.push(`action with ${data.isolates.length} isolates`);
      return await action.promise;
    });
    const leased = data.lease().then(() => events.push("leased"));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(events).toEqual(["action with 0 isolates"]);
    action.resolve("done");
    expect(await paused).toBe("done");
    await leased;
    expect(events).toEqual(["action with 0 isolates", "leased"]);
  });

  it("kills isolates that do not stop before the timeout of an action", async () => {
    const data = openFolder();
    const { kills } = await isolateOf(data, { ignoresDrain: true });
    await data.pauseFor(10, () => Promise.resolve());
    expect(kills).toEqual(["its data folder is paused and the isolate did not stop in time"]);
  });

  it("waits until a loading isolate has loaded its worker, and then stops the isolate", async () => {
    const data = openFolder();
    const { lease } = await isolateOf(data, { isLoading: true });
    const paused = data.pauseFor(60_000, () => Promise.resolve("done"));
    expect(data.isInUse).toBe(true);
    data.noteLoaded(lease);
    expect(data.isInUse).toBe(false);
    expect(await paused).toBe("done");
  });

  it("accepts isolates after a failed action, and runs actions one after the other", async () => {
    const data = openFolder();
    await expect(data.pauseFor(60_000, () => Promise.reject(new Error("disk")))).rejects.toThrow("disk");
    const order: number[] = [];
    await Promise.all([1, 2, 3].map((number) => data.pauseFor(60_000, () => Promise.resolve(order.push(number)))));
    expect(order).toEqual([1, 2, 3]);
  });
});
