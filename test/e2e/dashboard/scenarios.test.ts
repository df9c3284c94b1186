import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { scenarios, type ScenarioDaemon } from "../../support/incident-scenarios.js";
import { keys, type TerminalWindow } from "../../support/terminal-window.js";
import { ShellSession } from "../cli/shell-session.js";
import { openTui } from "./dashboard-session.js";

vi.setConfig({ testTimeout: 90_000 });

let shell: ShellSession;

beforeAll(async () => {
  shell = await ShellSession.open();
});
afterAll(() => shell?.close());

interface Remedy {
  /** Keys until the remedy, each with the text that the user waits for. */
  readonly steps: readonly (readonly [key: string, shown: string | RegExp])[];
  readonly isDone?: (window: TerminalWindow, daemon: ScenarioDaemon) => Promise<void>;
}

const remedies: Readonly<Record<keyof typeof scenarios, Remedy>> = {
  "returns only 500s": rollback("orders"),
  "cannot start": rollback("billing"),
  "became slow with the last deploy": rollback("search"),
  "has a failing cron job": rollback("report"),
  "has a full disk": {
    steps: [
      [keys.enter, "> shop"],
      ["d", "Delete 1 version of shop"],
    ],
    isDone: async (window, { client }) => {
      window.press("y");
      await window.waitFor("done: shop");
      expect((await client.workers.list()).find(({ name }) => name === "shop")?.versions).toHaveLength(1);
    },
  },
  "has a plugin with a typo": {
    steps: [["e", "done: lamp"]],
    isDone: async (_window, { client }) => {
      expect(await client.plugins.list()).toContainEqual(expect.objectContaining({ name: "lamp", enabled: false }));
    },
  },
  "has a key that expires soon": {
    steps: [
      ["K", "Replace key"],
      ["y", "This key is shown only once"],
    ],
    isDone: async (window, { daemon }) => {
      const [key = ""] = /rtk_[\w-]{30,}/.exec(window.text()) ?? [];
      expect((await fetch(`${daemon.url}/api/workers`, { headers: { "x-api-key": key } })).status).toBe(200);
    },
  },
};

function rollback(name: string): Remedy {
  return {
    steps: [["R", `done: ${name}: 1.0.0`]],
    isDone: async (_window, { daemon, client }) => {
      expect(await (await fetch(`${daemon.url}/${name}/`)).text()).toBe("works");
      expect(await client.workers.health({ query: { worker: name } })).toMatchObject([{ version: "1.0.0", state: "ok" }]);
    },
  };
}

test.each(Object.keys(scenarios) as (keyof typeof scenarios)[])(
  "shows the cause at once and the remedy within 2 key presses when something %s",
  async (name) => {
    const { subject, cause, open } = scenarios[name];
    const { steps, isDone } = remedies[name];
    const scenario = await open();
    onTestFinished(scenario.daemon.dispose);
    await shell.signIn(scenario.daemon);
    const window = await openTui(shell, "", { columns: 140, rows: 45 });
    await window.waitFor("1 incident");
    await window.waitFor(subject);
    // The lines below the list contain the whole cause, which can have line breaks.
    await window.waitFor(() => cause.test(window.text().replaceAll(/\s*\n\s*/g, " ")));
    expect(steps.length).toBeLessThanOrEqual(2);
    for (const [key, shown] of steps) {
      window.press(key);
      await window.waitFor(shown);
    }
    await isDone?.(window, scenario);
  },
);
