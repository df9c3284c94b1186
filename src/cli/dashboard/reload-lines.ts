import type { Plugin } from "../../shared/contract/plugins.js";
import { fitted } from "./fitted.js";

const nameWidth = 28;
const stateWidth = 16;

/** What a reload changed: each plugin with its version and state before and after it, and why one is not at work. */
export function reloadLines(before: readonly Plugin[], after: readonly Plugin[]): string[] {
  const names = [...new Set([...before, ...after].map(({ name }) => name))].toSorted();
  const rows = names.flatMap((name) => {
    const now = after.find((plugin) => plugin.name === name);
    const row = line(
      name,
      stateOf(
        before.find((plugin) => plugin.name === name),
        "not there",
      ),
      stateOf(now, "gone"),
    );
    return now?.error === undefined ? [row] : [row, `  ${now.error}`];
  });
  return [line("NAME", "BEFORE", "AFTER"), ...rows];
}

function line(name: string, before: string, after: string): string {
  return `${fitted(name, nameWidth)}  ${fitted(before, stateWidth)}  ${after}`;
}

function stateOf(plugin: Plugin | undefined, otherwise: string): string {
  return plugin === undefined ? otherwise : `${plugin.version} ${plugin.status}`;
}
