import { setTimeout as delay } from "node:timers/promises";
import { pluginName } from "./changes.mjs";

/** Maximum time in which replicas and watched folders show all changes after the last change. */
const patienceMs = 10_000;

/** Compares the state of each daemon with the whole ledger. */
export async function audit(when, { daemons, ledger, changes, record }) {
  for (const daemon of daemons.all) {
    const deadlineMs = record.nowMs() + patienceMs;
    let problems = await differences(daemon, { daemons, ledger, changes });
    while (problems.length > 0 && record.nowMs() < deadlineMs) {
      await delay(250);
      problems = await differences(daemon, { daemons, ledger, changes });
    }
    for (const problem of problems) record.problem(`${when} ${daemon.name}: ${problem}`);
    record.count(`compare all with the ledger ${when}`, problems.length === 0 ? "the same" : "different");
  }
}

async function differences(daemon, { daemons, ledger, changes }) {
  const shown = new Map();
  for (const subject of ledger.subjectsOf("app")) shown.set(subject, await changes.lookAtApp(subject.slice("app ".length), daemon));
  for (const subject of ledger.subjectsOf("toggle")) shown.set(subject, await changes.lookAtToggled(daemon));
  shown.set(`plugin ${pluginName}`, await changes.lookAtPlugin(daemon));
  const { body } = await daemons.call(daemon, "list the keys", { route: "/keys" });
  const names = new Set(body?.keys.map(({ name }) => `key ${name}`) ?? []);
  for (const subject of ledger.subjectsOf("key")) shown.set(subject, names.has(subject) ? "active" : "absent");
  const wrong = [...shown].filter(([subject, value]) => !ledger.possible(subject).includes(value));
  const unknown = [...names].filter((subject) => !shown.has(subject));
  return [
    ...wrong.map(([subject, value]) => `${subject} is ${value}, acknowledged is ${ledger.possible(subject).join(" or ")}`),
    ...unknown.map((subject) => `${subject} is there, and nobody asked for it`),
  ];
}
