import { readFile } from "node:fs/promises";
import path from "node:path";
import type { PackageJson } from "./package-facts.js";

type Dependencies = Pick<PackageJson, "dependencies" | "optionalDependencies" | "peerDependencies">;

/**
 * The packages in node_modules that only devDependencies lead to, as paths below the folder. The rest is needed to run, or nobody
 * declares it (then it was put there on purpose).
 */
export async function findDevelopmentPackages(folder: string, packageJson: PackageJson | undefined): Promise<ReadonlySet<string>> {
  if (packageJson?.devDependencies === undefined) return new Set();
  const installed = new InstalledPackages(folder);
  const needed = await installed.reachableFrom(namesIn(packageJson));
  const development = await installed.reachableFrom(Object.keys(packageJson.devDependencies));
  return new Set([...development].filter((packagePath) => !needed.has(packagePath)));
}

/** Finds packages as Node does: in the node_modules beside, then above. */
class InstalledPackages {
  readonly #folder: string;
  readonly #read = new Map<string, Promise<Dependencies | undefined>>();

  constructor(folder: string) {
    this.#folder = folder;
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
    const candidate = path.posix.join(from, "node_modules", name);
    const dependencies = await this.#dependenciesOf(candidate);
    if (dependencies) return { path: candidate, dependencies };
    return from === "" ? undefined : this.#resolve(name, from.includes("/") ? path.posix.dirname(from) : "");
  }

  #dependenciesOf(packagePath: string): Promise<Dependencies | undefined> {
    const known = this.#read.get(packagePath);
    if (known) return known;
    const reading = readFile(path.join(this.#folder, packagePath, "package.json"), "utf8").then(
      (text) => JSON.parse(text) as Dependencies,
      () => undefined,
    );
    this.#read.set(packagePath, reading);
    return reading;
  }
}

function namesIn({ dependencies, optionalDependencies, peerDependencies }: Dependencies): string[] {
  return [dependencies, optionalDependencies, peerDependencies].flatMap((group) => Object.keys(group ?? {}));
}
