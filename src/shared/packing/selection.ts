import ignore, { type Ignore } from "ignore";
import { findDevelopmentPackages } from "./development-packages.js";
import { mainFiles, type MainFiles } from "./main-files.js";
import type { PackageJson } from "./package-json.js";
import type { ReadText } from "./read-text.js";

/** The properties of a package on which the choice of packing rules depends. */
export interface SelectionFacts extends MainFiles {
  readonly packageJson: PackageJson | undefined;
}

/** The decision whether a path is packed, and the rule behind the decision. */
export interface Verdict {
  readonly kept: boolean;
  readonly rule: string;
}

/**
 * The packing rules of a package folder: `.runtimeignore` if it exists, else `files` of package.json, else `.gitignore` files. `.gitignore`
 * does not apply to installed packages and to the folders of entrypoint and assets (build output).
 */
export interface Selection {
  /** Decides whether the folder with this relative path is packed. If the folder is excluded, all of its content is excluded. */
  enter(directory: string): Promise<Verdict>;
  judge(file: string): Verdict;
}

const kept = (rule: string): Verdict => ({ kept: true, rule });
const dropped = (rule: string): Verdict => ({ kept: false, rule });

/** Returns the packing rules that apply to a package folder. */
export async function openSelection(read: ReadText, facts: SelectionFacts): Promise<Selection> {
  const own = await read(".runtimeignore");
  if (own !== undefined) return ignoredBy(".runtimeignore", ignore().add(own));
  const packages = await openPackageRules(read, facts);
  if (facts.packageJson?.files) return withPackages(packages, listed(facts, facts.packageJson.files));
  return withPackages(packages, await GitSelection.open(read, facts));
}

function ignoredBy(file: string, rules: Ignore): Selection {
  const verdictOf = (relativePath: string): Verdict => {
    const result = rules.test(relativePath);
    return result.ignored ? dropped(`${file}: ${result.rule?.pattern ?? ""}`) : kept(`not in ${file}`);
  };
  return { enter: async (directory) => verdictOf(`${directory}/`), judge: verdictOf };
}

/**
 * Applies the patterns in `files` of package.json. The last pattern that matches a path decides. A pattern that starts with `!` excludes.
 */
function listed(facts: SelectionFacts, files: readonly string[]): Selection {
  // Each pattern has its own matcher, because in a common matcher a pattern with `!` could not exclude files of a folder that an earlier
  // pattern includes.
  const patterns = files.map((pattern) => ({
    pattern,
    keeps: !pattern.startsWith("!"),
    rules: ignore().add(pattern.replace(/^!/, "").replace(/^\.\//, "/")),
  }));
  return {
    enter: async () => kept("package.json files"),
    judge: (file) => {
      if (facts.assetsDirectory !== undefined && file.startsWith(`${facts.assetsDirectory}/`)) return kept("assets of the manifest");
      const match = patterns.findLast(({ rules }) => rules.ignores(file));
      if (match) return { kept: match.keeps, rule: `package.json files: ${match.pattern}` };
      return file === facts.packageJson?.main ? kept("package.json main") : dropped("not in package.json files");
    },
  };
}

/** Applies the .gitignore files of all folders above a file, as git does. */
class GitSelection implements Selection {
  readonly #read: ReadText;
  /**
   * Paths of the folder of the entrypoint and of the assets folder, with a trailing slash. An entrypoint at the package root adds no
   * folder.
   */
  readonly #outputFolders: readonly string[];
  readonly #rulesByFolder = new Map<string, Ignore>();

  static async open(read: ReadText, facts: SelectionFacts): Promise<GitSelection> {
    const selection = new GitSelection(read, facts);
    await selection.#readRules("");
    return selection;
  }

  private constructor(read: ReadText, facts: SelectionFacts) {
    this.#read = read;
    const nested = mainFiles(facts).filter((file) => file.includes("/"));
    const folders = [...nested.map(folderOf), ...(facts.assetsDirectory === undefined ? [] : [facts.assetsDirectory])];
    this.#outputFolders = folders.map((folder) => `${folder}/`);
  }

  async enter(directory: string): Promise<Verdict> {
    const verdict = this.#verdictOf(`${directory}/`);
    if (verdict.kept) await this.#readRules(directory);
    return verdict;
  }

  judge(file: string): Verdict {
    return this.#verdictOf(file);
  }

  async #readRules(directory: string): Promise<void> {
    const text = await this.#read(directory === "" ? ".gitignore" : `${directory}/.gitignore`);
    if (text !== undefined) this.#rulesByFolder.set(directory === "" ? "" : `${directory}/`, ignore().add(text));
  }

  #verdictOf(relativePath: string): Verdict {
    if (this.#outputFolders.some((output) => relativePath.startsWith(output) || output.startsWith(relativePath)))
      return kept("the folder of the entrypoint or of assets");
    let verdict = kept("no matching rule");
    for (const [prefix, rules] of this.#rulesByFolder) {
      if (!relativePath.startsWith(prefix)) continue;
      const result = rules.test(relativePath.slice(prefix.length));
      if (result.ignored) verdict = dropped(`${prefix}.gitignore: ${result.rule?.pattern ?? ""}`);
      else if (result.unignored) verdict = kept(`${prefix}.gitignore: negated`);
    }
    return verdict;
  }
}

interface PackageRules {
  /** The node_modules folders from which Node.js resolves imports of the entry files. */
  readonly folders: ReadonlySet<string>;
  readonly servesPageBelow: string | undefined;
  readonly development: ReadonlySet<string>;
}

async function openPackageRules(read: ReadText, facts: SelectionFacts): Promise<PackageRules> {
  const { entrypoint = "", pluginEntry } = facts;
  const folders = new Set(["node_modules"]);
  for (const file of mainFiles(facts)) {
    for (let directory = folderOf(file); directory !== ""; directory = folderOf(directory)) folders.add(`${directory}/node_modules`);
  }
  const isPageOnly = pluginEntry === undefined && entrypoint.includes("/") && entrypoint.endsWith(".html");
  const servesPageBelow = isPageOnly ? `${folderOf(entrypoint)}/` : undefined;
  return { folders, servesPageBelow, development: await findDevelopmentPackages(read, facts.packageJson) };
}

/** Returns packing rules that use `packages` for installed packages and `others` for all other files. */
function withPackages(packages: PackageRules, others: Selection): Selection {
  const insidePackages = (relativePath: string) =>
    [...packages.folders].some((root) => relativePath === root || relativePath.startsWith(`${root}/`));
  return {
    enter: async (directory) => {
      if (!insidePackages(directory)) return others.enter(directory);
      if (packages.servesPageBelow !== undefined && !directory.startsWith(packages.servesPageBelow))
        return dropped("node_modules: a page is served from its own folder only");
      if (packages.development.has(directory)) return dropped("node_modules: required only by devDependencies");
      return kept("node_modules: installed packages");
    },
    judge: (file) => (insidePackages(file) ? kept("node_modules: installed packages") : others.judge(file)),
  };
}

/** Returns the parent folder of a relative path. Empty for a file at the package root. */
function folderOf(relativePath: string): string {
  return relativePath.slice(0, Math.max(0, relativePath.lastIndexOf("/")));
}
