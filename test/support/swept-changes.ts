import { expect } from "vitest";
import { sweptVersion, type SweepHarness } from "./sweep-harness.js";

/** A change with the states before and after it. `state` returns the current one, or another text for neither. */
export interface SweptChange {
  /** Restores the state before the change. */
  readonly prepare: (harness: SweepHarness) => Promise<unknown>;
  readonly run: (harness: SweepHarness) => Promise<unknown>;
  readonly state: (harness: SweepHarness) => Promise<string>;
  readonly before: string;
  readonly after: string;
}

const versionParams = { scope: "_", name: "app", version: sweptVersion };
const keyState = async (harness: SweepHarness) => (await harness.keyNames()).join() || "none";

export const sweptChanges: Record<string, SweptChange> = {
  "an installation": {
    prepare: (harness) => harness.remove(),
    run: (harness) => harness.upload("new"),
    state: (harness) => harness.installed(),
    before: "missing",
    after: "new",
  },
  "a replacement": {
    prepare: (harness) => harness.upload("old"),
    run: (harness) => harness.upload("new"),
    state: (harness) => harness.installed(),
    before: "old",
    after: "new",
  },
  "a deletion": {
    prepare: (harness) => harness.upload("old"),
    run: (harness) => harness.remove(),
    state: (harness) => harness.installed(),
    before: "old",
    after: "missing",
  },
  "a toggle": {
    prepare: (harness) => harness.upload("old"),
    run: (harness) => harness.client.workers.disable({ params: versionParams }),
    state: (harness) => harness.enabled(),
    before: "enabled",
    after: "disabled",
  },
  "the creation of a key": {
    prepare: (harness) => harness.revokeAll(),
    run: (harness) => harness.client.keys.create({ body: { name: "made", role: "viewer" } }),
    state: keyState,
    before: "none",
    after: "made",
  },
  "the revocation of a key": {
    prepare: async (harness) => {
      await harness.revokeAll();
      await harness.client.keys.create({ body: { name: "made", role: "viewer" } });
    },
    run: (harness) => harness.revokeAll(),
    state: keyState,
    before: "made",
    after: "none",
  },
};

/** Returns true for a change of a key, which uses no package store. */
export function isOfKeys(what: string): boolean {
  return what.endsWith("of a key");
}

/** Expects an allowed state at once if `withinMs` is 0, and otherwise when the daemon has followed its index. */
export async function expectFollowed(
  read: () => Promise<string>,
  allowed: readonly string[],
  { where, withinMs }: { where: string; withinMs: number },
): Promise<void> {
  if (withinMs === 0) return expect(allowed, `after ${where}`).toContain(await read());
  const isAllowed = (state: string) => allowed.includes(state);
  await expect.poll(read, { timeout: withinMs, message: `after ${where}` }).toSatisfy(isAllowed, allowed.join(" or "));
}
