import type { PluginCounter } from "../../plugin/index.js";
import type { PluginMetrics } from "../../shared/contract/metrics.js";

const mostCounters = 50;
const mostCombinations = 200;
const longestValue = 100;
/** Stands for the values of all combinations beyond the most. */
const otherValue = "other";

const namePattern = /^[a-z][a-z0-9_]{0,99}$/;
/** Prometheus keeps names that start with two underscores to itself; `plugin` is the label that we set. */
const labelPattern = /^(?!__|plugin$)[a-zA-Z_][a-zA-Z0-9_]{0,99}$/;

type Labels = Readonly<Record<string, string>>;

/** What plugins count. A plugin that is loaded again goes on counting where it was. */
export class PluginCounters {
  readonly #byPlugin = new Map<string, Map<string, Counter>>();

  /** The plugin's counter of that name, made when it is not there. Throws when the name cannot be one, or with the 51st. */
  counter(plugin: string, name: string, help: string): PluginCounter {
    if (!namePattern.test(name))
      throw new TypeError(`${JSON.stringify(name)} is no name of a counter: lower-case letters, digits and underscores, a letter first`);
    const counters = this.#byPlugin.get(plugin) ?? new Map<string, Counter>();
    this.#byPlugin.set(plugin, counters);
    const known = counters.get(name);
    if (known) return known.describeAs(help);
    if (counters.size >= mostCounters) throw new RangeError(`a plugin may have ${mostCounters} counters; ${name} is one more`);
    const counter = new Counter(help);
    counters.set(name, counter);
    return counter;
  }

  /** The plugin is gone: what it still holds counts for nobody. */
  forget(plugin: string): void {
    this.#byPlugin.delete(plugin);
  }

  /** By plugin, then by name. */
  read(): PluginMetrics[] {
    return sorted(this.#byPlugin).map(([plugin, counters]) => ({
      plugin,
      counters: sorted(counters).map(([name, counter]) => ({ name, help: counter.help, values: counter.values() })),
    }));
  }
}

class Counter implements PluginCounter {
  help = "";
  readonly #combinations = new Map<string, { readonly labels: Labels; value: number }>();
  /** By the very object that gave the labels, when it cannot change. */
  readonly #byObject = new WeakMap<Labels, { value: number }>();
  /** Counts what there is no room for; made when it is needed, with the labels of the first combination. */
  #overflow: { readonly labels: Labels; value: number } | undefined;

  constructor(help: string) {
    this.describeAs(help);
  }

  /** Prometheus wants one line that says something. */
  describeAs(help: string): this {
    this.help = help.replaceAll(/\s+/g, " ").trim().slice(0, 500) || "A counter of a plugin.";
    return this;
  }

  add(labels: Labels = {}, count = 1): void {
    if (!(count >= 0 && count < Number.POSITIVE_INFINITY)) throw new RangeError(`a counter only grows: ${count} cannot be added`);
    const known = this.#byObject.get(labels);
    if (known) known.value += count;
    else this.#find(labels).value += count;
  }

  #find(labels: Labels): { value: number } {
    const entries = Object.entries(labels).flatMap(([name, value]) => (value === "" ? [] : [[name, toLabelValue(value)] as const]));
    if (entries.length > 1) entries.sort(([one], [other]) => (one < other ? -1 : 1));
    const key = JSON.stringify(entries);
    const combination = this.#combinations.get(key) ?? this.#open(key, entries);
    if (Object.isFrozen(labels)) this.#byObject.set(labels, combination);
    return combination;
  }

  values(): { labels: Labels; value: number }[] {
    const all = new Set([...this.#combinations.values(), ...(this.#overflow ? [this.#overflow] : [])]);
    return [...all].map(({ labels, value }) => ({ labels, value }));
  }

  #open(key: string, entries: readonly (readonly [string, string])[]): { value: number } {
    if (this.#combinations.size >= mostCombinations) return (this.#overflow ??= this.#makeOverflow());
    const wrong = entries.find(([name]) => !labelPattern.test(name));
    if (wrong) throw new TypeError(`${JSON.stringify(wrong[0])} is no name of a label: letters, digits and underscores, and not "plugin"`);
    const combination = { labels: Object.fromEntries(entries), value: 0 };
    this.#combinations.set(key, combination);
    return combination;
  }

  /** A combination whose values all happen to be `other` counts for the rest, too, so that no series comes twice. */
  #makeOverflow(): { readonly labels: Labels; value: number } {
    const [first] = this.#combinations.values();
    const labels = Object.fromEntries(Object.keys(first?.labels ?? {}).map((name) => [name, otherValue]));
    return this.#combinations.get(JSON.stringify(Object.entries(labels))) ?? { labels, value: 0 };
  }
}

/** What cannot be written as UTF-8 would make two values look like one. To Prometheus an empty value is none, hence none comes here. */
function toLabelValue(value: unknown): string {
  return String(value)
    .slice(0, longestValue)
    .replaceAll(/\p{Surrogate}/gu, "\uFFFD");
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
