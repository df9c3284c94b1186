import http from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { IsolationHarness, outcomeOf } from "../support/isolation-harness.js";

const changes = 8;
const clients = 6;
/** Every change starts processes, an upload two: on two cores a daemon that has many requests besides waits for its turn meanwhile. */
const noiseMs = 200;

let house: IsolationHarness;
beforeAll(async () => {
  house = await IsolationHarness.open();
});
afterAll(() => house.close());

/** Its answer begins at once and ends a moment later, so that a change finds many in their midst. */
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

/** How a GET ends; a connection that is reset, or an answer that is not whole, is what must never come. */
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

/** Several clients that ask a worker again and again, until stopped; answers with how often each thing was answered. */
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

// Several attempts on a busy machine.
describe("a worker that changes in the midst of its requests", { timeout: 90_000 }, () => {
  test.each([
    ["is replaced", (name: string, turn: number): Promise<unknown> => house.replace(name, edition(turn))],
    ["is restarted", (name: string): Promise<unknown> => house.client.workers.restart({ params: versionOf(name) })],
  ])("and %s answers all of them, each with one edition, whole", async (_, change) => {
    await house.amid(async () => {
      const { name, url } = await house.add(edition(0));
      const asking = startAsking(`${url}/bad`);
      for (let turn = 1; turn <= changes; turn += 1) {
        await delay(50);
        await change(name, turn);
      }
      // A busy machine makes the requests slower than the changes.
      await expect.poll(asking.count).toBeGreaterThan(changes);
      const outcomes = await asking.stop();
      for (const outcome of outcomes.keys()) expect(outcome).toMatch(whole);
      await house.client.workers.remove({ params: { scope: "_", name } });
    }, noiseMs);
  });

  test.each([
    [
      "is disabled and enabled",
      async (name: string) => {
        await house.client.workers.disable({ params: versionOf(name) });
        await delay(20);
        await house.client.workers.enable({ params: versionOf(name) });
      },
    ],
    [
      "is deleted and uploaded again",
      async (name: string, turn: number) => {
        await house.client.workers.removeVersion({ params: versionOf(name) });
        await house.replace(name, edition(turn));
      },
    ],
  ])("and %s answers what has begun, whole, and the rest with 404", async (_, change) => {
    await house.amid(async () => {
      const { name, url } = await house.add(edition(0));
      const asking = startAsking(`${url}/bad`);
      for (let turn = 1; turn <= changes; turn += 1) {
        await delay(50);
        await change(name, turn);
      }
      const outcomes = await asking.stop();
      for (const outcome of outcomes.keys()) if (!outcome.startsWith("404 ")) expect(outcome).toMatch(whole);
      expect([...outcomes.keys()].some((outcome) => whole.test(outcome))).toBe(true);
      await house.client.workers.remove({ params: { scope: "_", name } });
    }, noiseMs);
  });
});

function versionOf(name: string): { scope: string; name: string; version: string } {
  return { scope: "_", name, version: "1.0.0" };
}
