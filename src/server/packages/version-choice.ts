import semver from "semver";
import { latestVersion } from "../../shared/package-name.js";
import type { InstalledVersion } from "./installed-version.js";

/** `1`, `1.4`, `1.4.2`, `^1.2.0`, `~1.2`: what may stand behind the @ of an address. */
const rangePattern = /^[\^~]?\d{1,9}(?:\.\d{1,9}){0,2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const longestRange = 200;
/** A semantic version that is no prerelease. */
const stablePattern = /^\d+\.\d+\.\d+(?:\+|$)/;
/** Addresses are the callers' to choose; so is what is remembered for them. */
const mostRememberedRanges = 64;

/** `latest` first, then from the highest version down. */
export function newestFirst(a: string, b: string): number {
  if (a === latestVersion || b === latestVersion) return Number(b === latestVersion) - Number(a === latestVersion);
  return semver.compareBuild(b, a);
}

/** Which of a worker's versions answers. Disabled ones never do. */
export class VersionChoice {
  /** What answers without a range: `latest`, else the highest stable version, else the highest prerelease. */
  readonly preferred: InstalledVersion | undefined;
  readonly #enabled: ReadonlyMap<string, InstalledVersion>;
  /** Of most workers nobody ever asks for a range. */
  #remembered: Map<string, InstalledVersion | undefined> | undefined;

  constructor(versions: Iterable<InstalledVersion>) {
    const sorted = [...versions].filter(({ enabled }) => enabled).toSorted((a, b) => newestFirst(a.version, b.version));
    this.#enabled = new Map(sorted.map((version) => [version.version, version]));
    this.preferred = this.#enabled.get(latestVersion) ?? sorted.find(isStable) ?? sorted[0];
  }

  /** What answers for a range: the version of exactly that name, else the highest stable one in it, else the highest prerelease in it. */
  pick(range: string): InstalledVersion | undefined {
    const exact = this.#enabled.get(range);
    if (exact || this.#remembered?.has(range)) return exact ?? this.#remembered?.get(range);
    if (range.length > longestRange || !rangePattern.test(range)) return undefined;
    const found = this.#search(range);
    this.#remembered ??= new Map();
    if (this.#remembered.size >= mostRememberedRanges) this.#remembered.clear();
    this.#remembered.set(range, found);
    return found;
  }

  #search(range: string): InstalledVersion | undefined {
    const inRange = [...this.#enabled.values()].filter(
      ({ version }) => version !== latestVersion && semver.satisfies(version, range, { includePrerelease: true }),
    );
    return inRange.find(isStable) ?? inRange[0];
  }
}

function isStable({ version }: InstalledVersion): boolean {
  return stablePattern.test(version);
}
