import { startDaemon } from "../support/daemon.mjs";
import { expectAnswer } from "../support/expect-answer.mjs";
import { limitRow } from "../support/rows.mjs";

export const name = "recovery";

const longestMs = 1000;
const patienceMs = 10_000;
const timeout = "1s";

/** Faults with which an app ends its own isolate, and the status of the response to the request. */
const offences = [
  { what: "an endless loop", code: "for (;;);", status: 504 },
  { what: "a call that blocks", code: "Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);", status: 504 },
  { what: "memory without end", code: "const kept = []; for (;;) kept.push(new Array(1000).fill(kept.length));", status: 502 },
  { what: "process.exit", code: "process.exit(1);", status: 502 },
];

export async function run(stage) {
  const { rounds } = stage.settings;
  // One worker per round, because the daemon delays the restart of a worker that crashes repeatedly.
  const workers = Object.fromEntries(
    offences.flatMap(({ code }, index) => Array.from({ length: rounds }, (_, round) => [`offender-${index}-${round}`, offender(code)])),
  );
  const daemon = await startDaemon(stage, { workers });
  const rows = [];
  for (const [index, { what, status }] of offences.entries()) {
    const times = [];
    for (let round = 0; round < rounds; round += 1) times.push(await recoveryMs(`${daemon.url}/offender-${index}-${round}`, status));
    rows.push(
      limitRow({
        work: `${what}: until the worker answers again, the longest of ${times.length}`,
        value: Math.max(...times),
        atMost: longestMs,
        unit: "ms",
        note: `From the answer to the request that did it; the worker's timeout is ${timeout}.`,
      }),
    );
  }
  return rows;
}

const offender = (code) => ({
  files: {
    "index.js": `export default { fetch(request) { if (new URL(request.url).pathname === "/ok") return new Response("ok"); ${code} } };`,
  },
  manifest: { timeout, memory: "64mb" },
});

/** Returns the time from the request that ends an isolate to the next successful response of the worker. */
async function recoveryMs(worker, status) {
  await expectAnswer(`${worker}/ok`, { text: "ok" });
  const bad = await fetch(`${worker}/`);
  await bad.arrayBuffer();
  if (bad.status !== status) throw new Error(`the offence was answered with ${bad.status}, not ${status}`);
  const startedAtMs = performance.now();
  while (performance.now() - startedAtMs < patienceMs) {
    const answer = await fetch(`${worker}/ok`);
    if (answer.status === 200 && (await answer.text()) === "ok") return performance.now() - startedAtMs;
    await answer.arrayBuffer().catch(() => undefined);
  }
  throw new Error(`the worker did not come back within ${patienceMs / 1000} s`);
}
