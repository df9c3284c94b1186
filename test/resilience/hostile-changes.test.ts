import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IsolationHarness, outcomeOf } from "../support/isolation-harness.js";

const changes = 8;
const clients = 6;
/** Every change starts processes. On two cores, a daemon with many other requests starts them more slowly. */
const noiseMs = 200;

let harness: IsolationHarness;
beforeAll(async () => {
  harness = await IsolationHarness.open();
});
afterAll(() => harness.close());

/** Streams its response over 40 ms, so that a change comes during many responses. */
const source = `const edition = "EDITION"; return new Response(new ReadableStream({ async start(to) {
  const bytes = new TextEncoder().encode(edition);
  for (let turn = 0; turn < 5; turn += 1) { to.enqueue(bytes); await new Promise((resolve) => setTimeout(resolve, 8)); }
  to.close();
} }));`;
const edition = (number: number) => ({
  name: `edition ${number}`,
  manifest: "timeout: 20s",
  source: source.replace("EDITION", `<${number}>`),
});

/** Resolves with the result of a GET. A reset or a truncated response must never occur. */
function ask(url: string): Promise<string> {
  return new Promise((resolve) => {
    const asked = http.get(url, { agent: false }, (response) => {
      let text = "";
      response.on("data", (piece: Buffer) => (text += piece.toString()));
      response.once("end", () => resolve(response.complete ? outcomeOf(response.statusCode ?? 0, text) : "cut at its end"));
      response.once("error", (error) => resolve(`cut: ${error.message}`));
    });
    asked.once("error", (error) => resolve(`no answer: ${error.message}`));
  });
}

/** Starts several clients that send requests to a worker until they are stopped. Returns the count of each outcome. */
function startAsking(url: string): { count: () => number; stop: () => Promise<Map<string, number>> } {
  const outcomes = new Map<string, number>();
  const end = new AbortController();
  const all = Array.from({ length: clients }, async () => {
    while (!end.signal.aborted) {
      const outcome = await ask(url);
      outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
      await delay(5);
    }
  });
  return {
    count: () => [...outcomes.values()].reduce((sum, count) => sum + count, 0),
    stop: async () => {
      end.abort();
      await Promise.all(all);
      return outcomes;
    },
  };
}

const whole = /^200 (<\d+>)\1{4}$/;

// On a busy machine an attempt is repeated, which takes time.
describe("a worker that a client changes while its requests run", { timeout: 90_000 }, () => {
  test.each([
    ["is replaced", (name: string, turn: number): Promise<unknown> => harness.replace(name, edition(turn))],
    ["is restarted", (name: string): Promise<unknown> => harness.client.workers.restart({ params: versionOf(name) })],
  ])("sends each response completely from one version (the worker %s)", async (_, change) => {
    await harness.checkDuring(async () => {
      const { name, url } = await harness.add(edition(0));
      const asking = startAsking(`${url}/bad`);
      for (let turn = 1; turn <= changes; turn += 1) {
        await delay(50);
        await change(name, turn);
      }
      // On a busy machine requests are slower than changes.
      await expect.poll(asking.count).toBeGreaterThan(changes);
      const outcomes = await asking.stop();
      for (const outcome of outcomes.keys()) expect(outcome).toMatch(whole);
      await harness.client.workers.remove({ params: { scope: "_", name } });
    }, noiseMs);
  });

  test.each([
    [
      "is disabled and enabled",
      async (name: string) => {
        await harness.client.workers.disable({ params: versionOf(name) });
        await delay(20);
        await harness.client.workers.enable({ params: versionOf(name) });
      },
    ],
    [
      "is deleted and uploaded again",
      async (name: string, turn: number) => {
        await harness.client.workers.removeVersion({ params: versionOf(name) });
        await harness.replace(name, edition(turn));
      },
    ],
  ])("completes its running requests, and then responds with 404 (the worker %s)", async (_, change) => {
    await harness.checkDuring(async () => {
      const { name, url } = await harness.add(edition(0));
      const asking = startAsking(`${url}/bad`);
      for (let turn = 1; turn <= changes; turn += 1) {
        await delay(50);
        await change(name, turn);
      }
      const outcomes = await asking.stop();
      for (const outcome of outcomes.keys()) if (!outcome.startsWith("404 ")) expect(outcome).toMatch(whole);
      expect([...outcomes.keys()].some((outcome) => whole.test(outcome))).toBe(true);
      await harness.client.workers.remove({ params: { scope: "_", name } });
    }, noiseMs);
  });
});

function versionOf(name: string): { scope: string; name: string; version: string } {
  return { scope: "_", name, version: "1.0.0" };
}
