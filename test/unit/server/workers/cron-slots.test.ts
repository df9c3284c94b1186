import { Cron } from "croner";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiError } from "../../../../src/shared/api-error.js";
import { createLog } from "../../../../src/server/log/log.js";
import type {
  Lease,
  LeaseResult,
  LeaseRequest,
  LeaseStore,
  MissedLease,
  HeartbeatResult,
} from "../../../../src/server/storage/lease-store.js";
import { CronSlots, type SlotEnd, type SlotJob } from "../../../../src/server/workers/cron-slots.js";

const startMs = Date.parse("2026-01-01T00:00:00Z");
const unavailable = () => new ApiError("KEY_STORE_UNAVAILABLE", "The primary is away.");

/** A lease store of several daemons, in memory. Its clock differs from that of the daemons by `skewMs`. */
class FakeLeases implements LeaseStore {
  readonly rows = new Map<string, Lease & { token: string }>();
  readonly live: string[] = ["a"];
  /** Number of upcoming requests whose response is lost. */
  lostAnswers = 0;
  isAway = false;
  skewMs = 0;
  requests = 0;
  readonly calls: ("settle" | "end")[] = [];
  readonly heartbeats = async () => [];
  readonly leave = async () => undefined;

  async take({ name, queue, slotMs, token, detail }: LeaseRequest): Promise<LeaseResult> {
    this.#receive();
    const isHeld = [...this.rows.values()].some((row) => row.queue === queue && row.state === "taken");
    if (!this.rows.has(name) && Math.abs(slotMs - this.nowMs()) <= 5_000)
      this.rows.set(name, { name, queue, slotMs, token, detail, instance: "A", state: isHeld ? "skipped" : "taken", result: undefined });
    this.#answer();
    const row = this.rows.get(name);
    if (!row) return "late";
    return row.token !== token ? "taken" : row.state === "taken" ? "mine" : "blocked";
  }

  async has(name: string): Promise<boolean> {
    this.#receive();
    return this.rows.has(name);
  }

  async end(name: string, token: string, state: "ran" | "skipped", result: string): Promise<void> {
    this.#receive();
    this.calls.push("end");
    const row = this.rows.get(name);
    if (row?.token === token) this.rows.set(name, { ...row, state, result });
  }

  async settle(missed: readonly MissedLease[]): Promise<HeartbeatResult> {
    this.#receive();
    this.calls.push("settle");
    for (const lease of missed)
      if (!this.rows.has(lease.name))
        this.rows.set(lease.name, { ...lease, token: "", instance: "A", state: "skipped", result: undefined });
    return { unknown: [], liveInstances: this.live };
  }

  async list(queues: readonly string[]): Promise<Lease[]> {
    this.#receive();
    return [...this.rows.values()].filter(({ queue }) => queues.includes(queue)).toSorted((one, other) => other.slotMs - one.slotMs);
  }

  async forget(prefix: string, untilMs: number): Promise<void> {
    this.#receive();
    for (const { name, queue, slotMs } of this.rows.values())
      if (queue.startsWith(prefix) && slotMs <= untilMs && slotMs < this.nowMs() - 5_000) this.rows.delete(name);
  }

  nowMs(): number {
    if (this.isAway) throw unavailable();
    return Date.now() + this.skewMs;
  }

  #receive(): void {
    this.requests += 1;
    if (this.isAway) throw unavailable();
  }

  #answer(): void {
    if (this.lostAnswers === 0) return;
    this.lostAnswers -= 1;
    throw unavailable();
  }
}

let leases: FakeLeases;
let pauses: number[];
let slots: CronSlots;
let isDraining = false;

beforeEach(() => {
  vi.useFakeTimers({ now: startMs, toFake: ["Date", "performance", "setInterval", "clearInterval"] });
  leases = new FakeLeases();
  pauses = [];
  isDraining = false;
  slots = open("a");
});

afterEach(async () => {
  await slots.close();
  vi.useRealTimers();
});

const pause = async (ms: number) => void pauses.push(ms);

function open(instanceId: string): CronSlots {
  const log = createLog({ level: "silent" });
  return new CronSlots({ leases, instanceId, isDraining: () => isDraining, onUnknown: () => undefined, log, pause });
}

function jobOf(schedule = "* * * * * *"): SlotJob {
  const cron = new Cron(schedule, { timezone: "UTC", paused: true });
  return { queue: "cron app POST /", worker: "app", version: "1.0.0", schedule, cron };
}

/** Runs a slot. Returns the number of calls of the worker and the number of blocked runs. */
async function run(slotMs: number, options: { by?: CronSlots; end?: SlotEnd } = {}): Promise<{ calls: number; blocked: number }> {
  let [calls, blocked] = [0, 0];
  const work = async (): Promise<SlotEnd> => {
    calls += 1;
    return options.end ?? { state: "ran", result: { status: 200 } };
  };
  await (options.by ?? slots).run(jobOf(), slotMs, { work, onBlocked: () => (blocked += 1) });
  return { calls, blocked };
}

const states = () => [...leases.rows.values()].toSorted((one, other) => one.slotMs - other.slotMs).map(({ state }) => state);

describe("a cron slot", () => {
  test("runs on only one of two daemons, and this daemon stores the result", async () => {
    const other = open("b");

    const results = await Promise.all([run(startMs), run(startMs, { by: other })]);

    expect(results.reduce((sum, { calls }) => sum + calls, 0)).toBe(1);
    expect([...leases.rows.values()]).toMatchObject([{ state: "ran", result: '{"status":200}' }]);
    await other.close();
  });

  test("does not run on a daemon that an operator drains", async () => {
    isDraining = true;
    expect(await run(startMs)).toEqual({ calls: 0, blocked: 0 });
    expect(states()).toEqual([]);

    isDraining = false;
    expect(await run(startMs)).toEqual({ calls: 1, blocked: 0 });
  });

  test("runs once when the response to the lease request is lost", async () => {
    leases.lostAnswers = 1;
    expect(await run(startMs)).toEqual({ calls: 1, blocked: 0 });
    expect(states()).toEqual(["ran"]);
  });

  test("does not run when the primary confirms no lease request, and is skipped later", async () => {
    leases.lostAnswers = 2;
    expect(await run(startMs)).toEqual({ calls: 0, blocked: 0 });
    expect(states()).toEqual(["taken"]);

    await slots.settle();
    // The primary could still receive the request.
    expect(states()).toEqual(["taken"]);
    vi.advanceTimersByTime(2_000);
    await slots.settle();

    expect([...leases.rows.values()]).toMatchObject([{ state: "skipped", result: expect.stringContaining("did not confirm the run") }]);
  });

  test.each([-5_001, 5_001])("does not run when the clocks differ by %i ms", async (skewMs) => {
    leases.skewMs = skewMs;
    expect(await run(startMs)).toEqual({ calls: 0, blocked: 0 });
    expect(states()).toEqual([]);
  });

  test("is skipped while the previous run continues on any daemon", async () => {
    const { promise, resolve: finish } = Promise.withResolvers<SlotEnd>();
    const running = slots.run(jobOf(), startMs, { work: () => promise, onBlocked: () => undefined });
    await vi.waitFor(() => expect(states()).toEqual(["taken"]));
    const other = open("b");

    vi.advanceTimersByTime(1_000);
    expect(await run(startMs + 1_000, { by: other })).toEqual({ calls: 0, blocked: 1 });
    finish({ state: "ran", result: {} });
    await running;
    vi.advanceTimersByTime(1_000);

    expect(await run(startMs + 2_000, { by: other })).toEqual({ calls: 1, blocked: 0 });
    expect(states()).toEqual(["ran", "skipped", "ran"]);
    await other.close();
  });

  test("keeps its result until the primary responds", async () => {
    const work = async (): Promise<SlotEnd> => {
      leases.isAway = true;
      return { state: "ran", result: { status: 500 } };
    };
    await slots.run(jobOf(), startMs, { work, onBlocked: () => undefined });
    expect(states()).toEqual(["taken"]);
    leases.isAway = false;

    await slots.settle();

    expect([...leases.rows.values()]).toMatchObject([{ state: "ran", result: '{"status":500}' }]);
  });

  test("keeps at most 1,000 pending results, which are sent after the heartbeat", async () => {
    leases.lostAnswers = 2_400;
    for (let slot = 0; slot < 1_200; slot += 1) await run(startMs + slot);
    leases.calls.length = 0;
    vi.advanceTimersByTime(2_000);

    await slots.settle();

    expect(leases.calls).toEqual(["settle", ...Array.from({ length: 1_000 }, () => "end")]);
  });

  test("is deleted with its worker, but slots of a later worker with this name are kept", async () => {
    await run(startMs);
    slots.forget("app");
    vi.setSystemTime(startMs + 2_000);
    await run(startMs + 2_000);
    await slots.settle();
    expect(states()).toEqual(["ran", "ran"]);

    vi.setSystemTime(startMs + 20_000);
    await slots.settle();

    expect([...leases.rows.values()].map(({ slotMs }) => slotMs)).toEqual([startMs + 2_000]);
  });

  test("waits 150 ms per running daemon with a higher rank, at most 1.5 s", async () => {
    leases.live.splice(0, 1, ...Array.from({ length: 30 }, (_, index) => `daemon ${index}`), "a");
    await slots.settle();

    for (let slot = 0; slot < 40; slot += 1) await run(startMs + slot);

    expect(new Set(pauses).size).toBeGreaterThan(5);
    expect(Math.max(...pauses)).toBe(1_500);
    expect(pauses.every((ms) => ms % 150 === 0)).toBe(true);
  });
});

describe("missed cron slots", () => {
  test("are recorded once as skipped, 10 s after the time of the slot", async () => {
    slots.start();
    await slots.settle();
    slots.watch(jobOf());
    vi.setSystemTime(startMs + 3_000);
    await run(startMs + 2_000);

    vi.setSystemTime(startMs + 13_000);
    await slots.settle();
    await slots.settle();

    expect(states()).toEqual(["skipped", "ran", "skipped"]);
  });

  test("are recorded as skipped after a restart if the schedule is unchanged", async () => {
    await run(startMs);
    vi.setSystemTime(startMs + 20_000);
    const restarted = open("a");
    restarted.watch(jobOf());
    const unrelated = open("b");
    unrelated.watch(jobOf("*/2 * * * * *"));

    await unrelated.settle();
    expect(states()).toEqual(["ran"]);
    await restarted.settle();

    expect(states()).toEqual(["ran", ...Array.from({ length: 10 }, () => "skipped")]);
    await Promise.all([restarted.close(), unrelated.close()]);
  });

  test("cause no request for a job whose next slot is in the future", async () => {
    slots.start();
    await slots.settle();
    slots.watch(jobOf("0 0 1 1 *"));
    const before = leases.requests;

    await slots.settle();

    expect(leases.requests).toBe(before + 1);
  });
});
