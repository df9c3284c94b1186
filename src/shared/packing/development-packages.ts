import type { PackageJson } from "./package-json.js";
import type { ReadText } from "./read-text.js";

type Dependencies = Pick<PackageJson, "dependencies" | "optionalDependencies" | "peerDependencies">;

/**
 * Returns the paths of packages in node_modules that only devDependencies require. All other packages are needed at run time, or no
 * package.json names them, so the developer installed them on purpose.
 */
export async function findDevelopmentPackages(read: ReadText, packageJson: PackageJson | undefined): Promise<ReadonlySet<string>> {
  if (packageJson?.devDependencies === undefined) return new Set();
  const installed = new InstalledPackages(read);
  const needed = await installed.reachableFrom(namesIn(packageJson));
  const development = await installed.reachableFrom(Object.keys(packageJson.devDependencies));
  return new Set([...development].filter((packagePath) => !needed.has(packagePath)));
}

/** Finds installed packages as Node.js does: first in node_modules of the importing folder, then in node_modules of each parent folder. */
class InstalledPackages {
  readonly #readText: ReadText;
  readonly #read = new Map<string, Promise<Dependencies | undefined>>();

  constructor(readText: ReadText) {
    this.#readText = readText;
  }

  async reachableFrom(names: readonly string[]): Promise<ReadonlySet<string>> {
    const reached = new Set<string>();
    const open = names.map((name) => ({ name, from: "" }));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      const found = await this.#resolve(next.name, next.from);
      if (found === undefined || reached.has(found.path)) continue;
      reached.add(found.path);
      open.push(...namesIn(found.dependencies).map((name) => ({ name, from: found.path })));
    }
    return reached;
  }

  async #resolve(name: string, from: string): Promise<{ path: string; dependencies: Dependencies } | undefined> {
    const candidate = `${from === "" ? "" : `${from}/`}node_modules/${name}`;
    const dependencies = await this.#dependenciesOf(candidate);
    if (dependencies) return { path: candidate, dependencies };
    return from === "" ? undefined : this.#resolve(name, from.slice(0, Math.max(0, from.lastIndexOf("/"))));
  }

  #dependenciesOf(packagePath: string): Promise<Dependencies | undefined> {
    const known = this.#read.get(packagePath);
    if (known) return known;
    const reading = this.#readText(`${packagePath}/package.json`).then(
      (text) => (text === undefined ? undefined : toDependencies(text)),
      () => undefined,
    );
    this.#read.set(packagePath, reading);
    return reading;
  }
}

function toDependencies(text: string): Dependencies | undefined {
  try {
    return JSON.parse(text) as Dependencies;
  } catch {
    return undefined;
  }
}

function namesIn({ dependencies, optionalDependencies, peerDependencies }: Dependencies): string[] {
  return [dependencies, optionalDependencies, peerDependencies].flatMap((group) => Object.keys(group ?? {}));
}
