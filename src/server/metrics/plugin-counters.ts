import type { PluginCounter } from "../../plugin/index.js";
import type { PluginMetrics } from "../../shared/contract/metrics.js";

const mostCounters = 50;
const mostCombinations = 200;
const longestValue = 100;
/** Label value that a counter uses for all label combinations above the limit. */
const otherValue = "other";

const namePattern = /^[a-z][a-z0-9_]{0,99}$/;
/**
 * Matches the label names that a plugin can use. Prometheus reserves names with two leading underscores, and the daemon sets the label
 * `plugin`.
 */
const labelPattern = /^(?!__|plugin$)[a-zA-Z_][a-zA-Z0-9_]{0,99}$/;

type Labels = Readonly<Record<string, string>>;

/** The counters of all plugins. After a reload of a plugin, its counters keep their values. */
export class PluginCounters {
  readonly #byPlugin = new Map<string, Map<string, Counter>>();

  /**
   * Returns the plugin's counter with this name, and creates the counter at the first call. Throws for an invalid name, and if the plugin
   * already has 50 counters.
   */
  counter(plugin: string, name: string, help: string): PluginCounter {
    if (!namePattern.test(name))
      throw new TypeError(
        `${JSON.stringify(name)} is not a valid counter name: use lower-case letters, digits and underscores, and begin with a letter`,
      );
    const counters = this.#byPlugin.get(plugin) ?? new Map<string, Counter>();
    this.#byPlugin.set(plugin, counters);
    const known = counters.get(name);
    if (known) return known.describeAs(help);
    if (counters.size >= mostCounters)
      throw new RangeError(`a plugin can have at most ${mostCounters} counters: ${name} exceeds the limit`);
    const counter = new Counter(help);
    counters.set(name, counter);
    return counter;
  }

  /** Removes the counters of a plugin that is no longer loaded. If the plugin still calls a removed counter, the metrics do not change. */
  forget(plugin: string): void {
    this.#byPlugin.delete(plugin);
  }

  /** Returns the counters, sorted by plugin name and counter name. */
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
  /**
   * Cache that finds a value by the frozen label object that the plugin passed. Other objects are not cached, because the plugin can change
   * their labels.
   */
  readonly #byObject = new WeakMap<Labels, { value: number }>();
  /** The one value that all label combinations above the limit share. Undefined until a plugin exceeds the limit. */
  #overflow: { readonly labels: Labels; value: number } | undefined;

  constructor(help: string) {
    this.describeAs(help);
  }

  /** Sets the help text. Replaces an empty text, because the format of Prometheus requires a help text. */
  describeAs(help: string): this {
    this.help = help.replaceAll(/\s+/g, " ").trim().slice(0, 500) || "A counter of a plugin.";
    return this;
  }

  add(labels: Labels = {}, count = 1): void {
    if (!(count >= 0 && count < Number.POSITIVE_INFINITY))
      throw new RangeError(`cannot add ${count} to a counter: the number must be 0 or more`);
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
    if (wrong)
      throw new TypeError(`${JSON.stringify(wrong[0])} is not a valid label name: use letters, digits and underscores, but not "plugin"`);
    const combination = { labels: Object.fromEntries(entries), value: 0 };
    this.#combinations.set(key, combination);
    return combination;
  }

  /**
   * Returns the shared counter for all label combinations above the limit. All its labels have the value `other`. If the plugin already
   * counts this combination itself, returns that counter, so that no series appears twice.
   */
  #makeOverflow(): { readonly labels: Labels; value: number } {
    const [first] = this.#combinations.values();
    const labels = Object.fromEntries(Object.keys(first?.labels ?? {}).map((name) => [name, otherValue]));
    return this.#combinations.get(JSON.stringify(Object.entries(labels))) ?? { labels, value: 0 };
  }
}

/**
 * Replaces unpaired surrogates, because UTF-8 encodes all of them as the same character. Two different label values could then be equal in
 * the output.
 */
function toLabelValue(value: unknown): string {
  return String(value)
    .slice(0, longestValue)
    .replaceAll(/\p{Surrogate}/gu, "\uFFFD");
}

function sorted<Value>(map: ReadonlyMap<string, Value>): [string, Value][] {
  return [...map].toSorted(([one], [other]) => (one < other ? -1 : 1));
}
