import { readFile } from "node:fs/promises";
import { runTool } from "./run-tool.js";

/** Returns the names of system calls that a unit's SystemCallFilter lines deny, with the groups of this machine's systemd. */
export async function deniedCalls(unit: string): Promise<string[]> {
  const groups = await readGroups();
  const allowed = new Set<string>(membersOf("@default", groups));
  for (const [, value = ""] of (await readFile(unit, "utf8")).matchAll(/^SystemCallFilter=(.*)$/gm)) {
    const isRefusal = value.startsWith("~");
    for (const call of value
      .replace("~", "")
      .split(" ")
      .flatMap((name) => membersOf(name, groups)))
      if (isRefusal) allowed.delete(call);
      else allowed.add(call);
  }
  return [...groups.keys()]
    .flatMap((group) => membersOf(group, groups))
    .filter((call, index, all) => !allowed.has(call) && all.indexOf(call) === index);
}

type Groups = ReadonlyMap<string, readonly string[]>;

async function readGroups(): Promise<Groups> {
  const { output } = await runTool("systemd-analyze", "syscall-filter", "--no-pager");
  const groups = new Map<string, string[]>();
  let members: string[] = [];
  for (const line of output.split("\n")) {
    const name = /^@[\w-]+/.exec(line)?.[0];
    if (name !== undefined) groups.set(name, (members = []));
    else if (/^ {4}@?\w/.test(line)) members.push(line.trim());
  }
  return groups;
}

function membersOf(name: string, groups: Groups): string[] {
  return name.startsWith("@") ? (groups.get(name) ?? []).flatMap((member) => membersOf(member, groups)) : [name];
}
