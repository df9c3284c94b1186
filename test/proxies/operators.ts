import { setTimeout as delay } from "node:timers/promises";
import { expect } from "vitest";
import { UnexpectedAnswerError } from "../../src/shared/client.js";
import { answerAt, uploadApp, type Instance, type InstanceHarness } from "./instance-harness.js";
import { Ledger } from "./ledger.js";

const appNames = ["shop", "wiki"];
const toggledName = "toggled";
/** Each fourth change is different: it deletes an app instead of replacing it, or keeps a key instead of revoking it. */
const exceptionEvery = 4;
/** Shortest time between the starts of two changes of a lane. */
const pauseMs = 100;
const mostAttempts = 100;
/** Time after a failed call until each daemon has received the change that the call possibly made, with the sync interval of 1 s. */
const settledMs = 3_000;

/** Operators that change apps and keys through nginx until they are stopped, and record acknowledged changes. */
export class Operators {
  readonly ledger = new Ledger();
  /** Counts of failed calls by kind of failure. */
  readonly failures = new Map<string, number>();
  readonly #harness: InstanceHarness;
  readonly #secrets = new Map<string, string>();
  #lanes: Promise<void>[] = [];
  #isStopping = false;

  constructor(harness: InstanceHarness) {
    this.#harness = harness;
  }

  async start(): Promise<void> {
    await uploadApp(this.#harness.client, toggledName, toggledName);
    await this.#harness.expectEverywhere(`/${toggledName}/`, toggledName);
    await this.ledger.change("toggle toggled", "on", () => Promise.resolve(true));
    const lanes = [...appNames.map((name) => (turn: number) => this.#changeApp(name, turn)), this.#toggle, this.#churnKey];
    this.#lanes = lanes.map((lane) => this.#run(lane));
  }

  async stop(): Promise<void> {
    this.#isStopping = true;
    await Promise.all(this.#lanes);
  }

  /** Waits until the state of an instance matches the ledger. */
  async expectLedgerHolds(instance: Instance): Promise<void> {
    await expect.poll(() => this.#differences(instance), { timeout: 20_000, interval: 100, message: instance.name }).toEqual([]);
  }

  async #run(lane: (turn: number) => Promise<unknown>): Promise<void> {
    for (let turn = 0; !this.#isStopping; turn += 1) {
      await lane(turn);
      await delay(pauseMs);
    }
  }

  async #changeApp(name: string, turn: number): Promise<void> {
    const { client } = this.#harness;
    const mayBeDeleted = this.ledger.possible(`app ${name}`)[0] !== "absent" && turn % exceptionEvery === exceptionEvery - 1;
    const edition = `${name}, edition ${turn}`;
    const isDone = mayBeDeleted
      ? await this.ledger.change(`app ${name}`, "absent", () => this.#ask(() => client.workers.remove({ params: { scope: "_", name } })))
      : await this.ledger.change(`app ${name}`, edition, () => this.#ask(() => uploadApp(client, name, edition)));
    // nginx sends the next change to a daemon that can still have the previous state.
    if (isDone) await this.#harness.expectEverywhere(`/${name}/`, mayBeDeleted ? "404" : edition);
  }

  readonly #toggle = async (turn: number): Promise<void> => {
    const { workers } = this.#harness.client;
    const params = { scope: "_", name: toggledName, version: "1.0.0" };
    const isOn = turn % 2 === 1;
    const isDone = await this.ledger.change("toggle toggled", isOn ? "on" : "off", () =>
      this.#ask(() => (isOn ? workers.enable({ params }) : workers.disable({ params }))),
    );
    if (isDone) await this.#harness.expectEverywhere(`/${toggledName}/`, isOn ? toggledName : "404");
  };

  readonly #churnKey = async (turn: number): Promise<void> => {
    const { keys } = this.#harness.client;
    const name = `key of turn ${turn}`;
    let made = { id: 0, key: "" };
    const isMade = await this.ledger.change(`key ${name}`, "active", () =>
      this.#ask(async () => (made = (await keys.create({ body: { name, role: "viewer" } })).data)),
    );
    if (!isMade) return;
    this.#secrets.set(name, made.key);
    if (turn % exceptionEvery === 0) return;
    await Promise.all(this.#harness.instances.map((instance) => this.#untilKnown(made.id, instance)));
    await this.ledger.change(`key ${name}`, "absent", () => this.#ask(() => keys.revoke({ params: { id: String(made.id) } })));
  };

  /** Waits until an instance, which can be killed meanwhile, lists a created key. A timeout means that the key was lost. */
  async #untilKnown(id: number, { client, name }: Instance): Promise<void> {
    for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
      const listed = await client.keys.list().catch(() => ({ keys: [] }));
      if (listed.keys.some((key) => key.id === id)) return;
      await delay(pauseMs);
    }
    this.failures.set(`key ${id} is lost to ${name}`, 1);
  }

  async #ask(call: () => Promise<unknown>): Promise<boolean> {
    try {
      await call();
      return true;
    } catch (error) {
      const failure = error instanceof UnexpectedAnswerError ? `status ${error.status}` : describe(error);
      this.failures.set(failure, (this.failures.get(failure) ?? 0) + 1);
      await delay(settledMs);
      return false;
    }
  }

  async #differences(instance: Instance): Promise<string[]> {
    const shown = new Map<string, string>();
    for (const name of appNames) shown.set(`app ${name}`, absentWhen404(await answerAt(instance.url, `/${name}/`)));
    shown.set("toggle toggled", (await answerAt(instance.url, `/${toggledName}/`)) === "404" ? "off" : "on");
    const listed = new Set((await instance.client.keys.list()).keys.map(({ name }) => `key ${name}`));
    for (const subject of this.ledger.subjects("key")) shown.set(subject, listed.has(subject) ? "active" : "absent");
    for (const [name, key] of [...this.#secrets].slice(-5)) {
      const answer = await answerAt(instance.url, "/api/workers", { "x-api-key": key });
      shown.set(`key ${name}`, answer === "401" ? "absent" : "active");
    }
    return [...shown]
      .filter(([subject, value]) => !this.ledger.possible(subject).includes(value))
      .map(([subject, value]) => `${subject} is ${value}, not ${this.ledger.possible(subject).join(" or ")}`);
  }
}

function absentWhen404(answer: string): string {
  return answer === "404" ? "absent" : answer;
}

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message: string };
  return code ?? message;
}
