import { nearestWord } from "../../../shared/nearest-word.js";
import { usageError } from "../../command/command-error.js";

/**
 * All actions of the dashboard with their default shortcuts. Actions with the same default shortcut have the same purpose on different
 * screens, such as deleting an item.
 */
export const actionTable = {
  "screen.overview": { keys: ["1"], label: "overview", where: "everywhere", isUsual: true },
  "screen.workers": { keys: ["2"], label: "workers", where: "everywhere", isUsual: true },
  "screen.plugins": { keys: ["3"], label: "plugins", where: "everywhere", isUsual: true },
  "screen.keys": { keys: ["4"], label: "keys", where: "everywhere", isUsual: true },
  "screen.files": { keys: ["5"], label: "files", where: "everywhere", isUsual: true },
  "screen.logs": { keys: ["6"], label: "logs", where: "everywhere", isUsual: true },
  "screen.hosts": { keys: ["7"], label: "hosts", where: "everywhere", isUsual: true },
  "screen.connect": { keys: ["8"], label: "connect", where: "everywhere", isUsual: true },
  "screen.instances": { keys: ["9"], label: "instances", where: "everywhere", isUsual: true },
  "screen.next": { keys: ["tab"], label: "next screen", where: "everywhere", isUsual: true },
  "screen.previous": { keys: ["shift-tab"], label: "previous screen", where: "everywhere", isUsual: true },
  "list.down": { keys: ["j", "down"], label: "down", where: "lists", isUsual: true },
  "list.up": { keys: ["k", "up"], label: "up", where: "lists", isUsual: true },
  "list.first": { keys: ["g", "home"], label: "first", where: "lists", isUsual: true },
  "list.last": { keys: ["G", "end"], label: "last", where: "lists", isUsual: true },
  "list.pageDown": { keys: ["pgdn"], label: "page down", where: "lists", isUsual: true },
  "list.pageUp": { keys: ["pgup"], label: "page up", where: "lists", isUsual: true },
  "list.open": { keys: ["enter"], label: "open", where: "lists" },
  "list.back": { keys: ["esc"], label: "back", where: "lists" },
  "list.filter": { keys: ["/"], label: "filter", where: "lists" },
  "workers.toggle": { keys: ["e"], label: "on/off", where: "workers" },
  "workers.rollback": { keys: ["R"], label: "rollback", where: "workers" },
  "workers.upload": { keys: ["u"], label: "upload", where: "workers" },
  "workers.logs": { keys: ["l"], label: "logs", where: "workers" },
  "workers.delete": { keys: ["d"], label: "delete", where: "workers" },
  "workers.deleteAll": { keys: ["D"], label: "delete all", where: "workers" },
  "workers.restart": { keys: ["t"], label: "restart", where: "workers" },
  "workers.builtIn": { keys: ["b"], label: "built-in", where: "workers" },
  "workers.open": { keys: ["o"], label: "open", where: "workers" },
  "workers.secrets": { keys: ["s"], label: "secrets", where: "workers" },
  "logs.worker": { keys: ["f"], label: "follow", where: "logs" },
  "logs.pause": { keys: ["p"], label: "pause", where: "logs" },
  "logs.wrap": { keys: ["w"], label: "wrap", where: "logs" },
  "logs.times": { keys: ["T"], label: "times", where: "logs" },
  "logs.source": { keys: ["v"], label: "output/requests", where: "logs" },
  "logs.next": { keys: ["n"], label: "next match", where: "logs" },
  "logs.previous": { keys: ["N"], label: "previous match", where: "logs" },
  "plugins.toggle": { keys: ["e"], label: "on/off", where: "plugins" },
  "plugins.upload": { keys: ["u"], label: "upload", where: "plugins" },
  "plugins.reload": { keys: ["L"], label: "reload all", where: "plugins" },
  "plugins.delete": { keys: ["d"], label: "delete", where: "plugins" },
  "keys.create": { keys: ["c"], label: "create", where: "keys" },
  "keys.rotate": { keys: ["K"], label: "rotate", where: "keys" },
  "keys.revoke": { keys: ["d"], label: "revoke", where: "keys" },
  "hosts.new": { keys: ["c"], label: "create", where: "hosts" },
  "hosts.add": { keys: ["a"], label: "add requested", where: "hosts" },
  "hosts.remove": { keys: ["d"], label: "remove", where: "hosts" },
  "secrets.new": { keys: ["c"], label: "create", where: "secrets" },
  "secrets.set": { keys: ["E"], label: "set value", where: "secrets" },
  "secrets.remove": { keys: ["d"], label: "remove", where: "secrets" },
  "secrets.forceRemove": { keys: ["D"], label: "remove although required", where: "secrets" },
  "files.upload": { keys: ["u"], label: "upload", where: "files" },
  "files.download": { keys: ["ctrl-s"], label: "save", where: "files" },
  "files.makeFolder": { keys: ["c"], label: "create", where: "files" },
  "files.rename": { keys: ["M"], label: "rename", where: "files" },
  "files.move": { keys: ["m"], label: "move", where: "files" },
  "files.delete": { keys: ["d"], label: "delete", where: "files" },
  "instances.drain": { keys: ["z"], label: "drain on/off", where: "instances" },
  "connect.signIn": { keys: ["i"], label: "sign in", where: "connect" },
  undo: { keys: ["U"], label: "undo", where: "everywhere" },
  palette: { keys: [":"], label: "command", where: "everywhere" },
  copy: { keys: ["y"], label: "copy", where: "everywhere" },
  commandLine: { keys: ["x"], label: "as command", where: "everywhere" },
  "list.sort": { keys: ["S"], label: "sort", where: "lists" },
  refresh: { keys: ["r"], label: "refresh", where: "everywhere" },
  help: { keys: ["?"], label: "help", where: "everywhere" },
  quit: { keys: ["q"], label: "quit", where: "everywhere" },
} as const satisfies Record<string, ActionEntry>;
const actionIds = Object.keys(actionTable) as ActionId[];
/** Keys that the user cannot assign to an action. For example, ctrl-c must always quit. */
const reservedKeys = ["ctrl-c", "ctrl-z"];

interface ActionEntry {
  /** Key names as in `ui.keys` of config.yaml: `j`, `D`, `up`, `pgdn`, `enter`, `ctrl-d`. The footer shows the first of them. */
  readonly keys: readonly [string, ...string[]];
  readonly label: string;
  /** Where the shortcut works: `everywhere`, `lists` for all lists, or the name of the only screen. */
  readonly where: string;
  /** Whether only the help shows the shortcut, and not the footer. */
  readonly isUsual?: boolean;
}

export type ActionId = keyof typeof actionTable;

/** The shortcuts of all actions: the defaults of the action table, with the changes from `ui.keys` in config.yaml. */
export class Keymap {
  readonly #keys: ReadonlyMap<ActionId, readonly string[]>;

  /** Throws a usage error for an unknown action, an invalid key, or a key that has two actions on the same screen. */
  constructor(changes: Readonly<Record<string, string>> = {}) {
    for (const id of Object.keys(changes)) if (!Object.hasOwn(actionTable, id)) throw unknownAction(id);
    this.#keys = new Map(actionIds.map((id) => [id, changes[id] === undefined ? actionTable[id].keys : [changes[id]]]));
    for (const key of Object.values(changes)) if (!isKey(key)) throw badKey(key);
    this.#refuseConflicts();
  }

  /** Returns the key that the footer shows for an action: the first of its keys. */
  keyOf(id: ActionId): string {
    return this.#keys.get(id)?.[0] ?? "";
  }

  keysOf(id: ActionId): readonly string[] {
    return this.#keys.get(id) ?? [];
  }

  /** Returns all actions with this key. On different screens, a key can have different actions. */
  actionsOf(key: string): readonly ActionId[] {
    return actionIds.filter((id) => this.#keys.get(id)?.includes(key));
  }

  #refuseConflicts(): void {
    for (const [position, first] of actionIds.entries())
      for (const second of actionIds.slice(position + 1)) {
        const key = meet(first, second) ? this.keysOf(first).find((candidate) => this.keysOf(second).includes(candidate)) : undefined;
        if (key !== undefined)
          throw usageError(
            `ui.keys: the key ${key} is assigned to both ${first} and ${second}`,
            `assign another key to one of them in config.yaml`,
          );
      }
  }
}

/**
 * Whether both actions are available on at least one common screen. Actions whose `where` is `everywhere` or `lists` are available on every
 * screen.
 */
function meet(first: ActionId, second: ActionId): boolean {
  const [a, b]: [string, string] = [actionTable[first].where, actionTable[second].where];
  return a === b || [a, b].some((where) => where === "everywhere" || where === "lists");
}

function isKey(key: string): boolean {
  return (
    !reservedKeys.includes(key) &&
    /^(?:[!-~]|space|up|down|left|right|pgup|pgdn|home|end|enter|esc|tab|shift-tab|delete|ctrl-[a-z])$/.test(key)
  );
}

function badKey(key: string): Error {
  return usageError(
    `ui.keys: ${JSON.stringify(key)} is not a valid key`,
    "use a character, ctrl- and a letter (not c and z), or one of space, enter, esc, tab, up, down, pgup, pgdn, home, end, delete",
  );
}

function unknownAction(id: string): Error {
  const nearest = nearestWord(id, actionIds);
  return usageError(`ui.keys: there is no action ${JSON.stringify(id)}`, nearest === undefined ? undefined : `did you mean ${nearest}?`);
}
