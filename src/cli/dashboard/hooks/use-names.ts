import type { Client } from "../../../shared/client.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { useQuery } from "./use-query.js";

interface NameSource {
  /** As screens ask for it. */
  readonly resource: string;
  readonly ask: (client: Client) => Promise<unknown>;
  readonly names: (answer: unknown) => readonly string[];
}

const sources: Readonly<Record<string, NameSource>> = {
  workers: sourceOf(
    "workers",
    (client) => client.workers.list(),
    (workers) => uploadedWorkers(workers).flatMap(({ name, versions }) => [name, ...versions.map((version) => `${name}@${version}`)]),
  ),
  plugins: sourceOf(
    "plugins",
    (client) => client.plugins.list(),
    (plugins) => plugins.map(({ name }) => name),
  ),
  keys: sourceOf(
    "keys",
    async (client) => (await client.keys.list()).keys,
    (keys) => keys.map(({ id }) => String(id)),
  ),
};
/** For words that name nothing of the daemon's. */
const nothing = sourceOf(
  "session",
  (client) => client.session.show(),
  () => [],
);

/** The names of what there is of a noun, as a command line takes them. */
export function useNames(noun: string): readonly string[] {
  const { resource, ask, names } = (Object.hasOwn(sources, noun) && sources[noun]) || nothing;
  const { value } = useQuery(resource, ask);
  // What a line could not hold as it is, or a terminal would obey, is not offered.
  return value === undefined ? [] : names(value).filter((name) => /^[!-~]+$/.test(name));
}

function sourceOf<Answer>(
  resource: string,
  ask: (client: Client) => Promise<Answer>,
  names: (answer: Answer) => readonly string[],
): NameSource {
  return { resource, ask, names: (answer) => names(answer as Answer) };
}
