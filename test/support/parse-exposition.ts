export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

export interface Family {
  readonly type: string;
  readonly help: string;
  readonly samples: Sample[];
}

const label = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y;

/** Parses the text format of Prometheus (0.0.4). Throws at anything that a scraper could reject. */
export function parseExposition(text: string): Map<string, Family> {
  if (!text.endsWith("\n")) throw new Error("the last line does not end");
  const families = new Map<string, Family>();
  const seen = new Set<string>();
  let help: { name: string; text: string } | undefined;
  let current: { name: string; family: Family } | undefined;
  for (const line of text.slice(0, -1).split("\n")) {
    if (line === "") continue;
    const [, kind, name = "", rest = ""] = /^# (HELP|TYPE) ([a-zA-Z_:][a-zA-Z0-9_:]*) (.+)$/.exec(line) ?? [];
    if (kind === "HELP") help = { name, text: rest };
    else if (kind === "TYPE") {
      if (help?.name !== name || families.has(name)) throw new Error(`TYPE without its HELP, or for the second time: ${line}`);
      if (!/^(counter|gauge|histogram|summary|untyped)$/.test(rest)) throw new Error(`no such type: ${line}`);
      current = { name, family: { type: rest, help: help.text, samples: [] } };
      families.set(name, current.family);
    } else {
      const sample = parseSample(line);
      const base = current?.family.type === "histogram" ? sample.name.replace(/_(bucket|sum|count)$/, "") : sample.name;
      if (!current || base !== current.name || help?.name !== base) throw new Error(`a value without its metric: ${line}`);
      const identity = `${sample.name}${JSON.stringify(Object.entries(sample.labels).map(String).toSorted(byText))}`;
      if (seen.has(identity)) throw new Error(`a value comes twice: ${line}`);
      seen.add(identity);
      current.family.samples.push(sample);
    }
  }
  for (const [name, family] of families) checkFamily(name, family);
  return families;
}

function parseSample(line: string): Sample {
  const match = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
  if (!match) throw new Error(`not a value: ${line}`);
  const [, name = "", labelText = "", number = ""] = match;
  const labels: Record<string, string> = {};
  label.lastIndex = 0;
  for (let at = 0; at < labelText.length; at = label.lastIndex) {
    const found = label.exec(labelText);
    if (!found) throw new Error(`broken labels: ${line}`);
    labels[found[1] as string] = (found[2] as string).replaceAll(/\\(.)/g, (_, escaped: string) => (escaped === "n" ? "\n" : escaped));
  }
  const value = number === "+Inf" ? Infinity : number === "-Inf" ? -Infinity : Number(number);
  if (Number.isNaN(value) && number !== "NaN") throw new Error(`not a number: ${line}`);
  return { name, labels, value };
}

/** Checks that counters have their suffix and are not negative, and that buckets of a histogram grow up to its count. */
function checkFamily(name: string, { type, samples }: Family): void {
  if (type === "counter" && !name.endsWith("_total")) throw new Error(`the counter ${name} is not named _total`);
  if (type === "counter" && samples.some(({ value }) => !(value >= 0))) throw new Error(`${name} is below 0`);
  if (type !== "histogram") return;
  const series = new Map<string, { buckets: [number, number][]; count?: number; sum?: number }>();
  for (const sample of samples) {
    const { le, ...labels } = sample.labels;
    const key = JSON.stringify(labels);
    const one = series.get(key) ?? { buckets: [] };
    series.set(key, one);
    if (sample.name.endsWith("_bucket")) one.buckets.push([le === "+Inf" ? Infinity : Number(le), sample.value]);
    else if (sample.name.endsWith("_count")) one.count = sample.value;
    else one.sum = sample.value;
  }
  for (const [key, { buckets, count, sum }] of series) {
    const isSorted = buckets.every(([le, value], index) => index === 0 || (le > buckets[index - 1]![0] && value >= buckets[index - 1]![1]));
    if (!isSorted || buckets.at(-1)?.[0] !== Infinity || buckets.at(-1)?.[1] !== count || sum === undefined)
      throw new Error(`the histogram ${name} of ${key} is inconsistent`);
  }
}

function byText(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
