import type { ReadText } from "./packing/read-text.js";

/** The compiler options that change the compiled code. All other options concern type checks and the output of tsc. */
const compiledOptions = [
  "alwaysStrict",
  "experimentalDecorators",
  "importsNotUsedAsValues",
  "jsx",
  "jsxFactory",
  "jsxFragmentFactory",
  "jsxImportSource",
  "preserveValueImports",
  "strict",
  "target",
  "useDefineForClassFields",
  "verbatimModuleSyntax",
] as const;
/**
 * Variable in the paths of a tsconfig.json. TypeScript replaces it with the folder of the tsconfig.json that is compiled, even in a file
 * that `extends` names.
 */
const configFolder = "${configDir}";

/** The settings of a tsconfig.json that affect the compilation of a worker. */
export interface Tsconfig {
  /** Path of the tsconfig.json, relative to the package folder. */
  readonly file: string;
  /**
   * Compiler options in the form that esbuild accepts. Paths are relative to the package folder. Paths that lead out of the package folder
   * are left out.
   */
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** Whether `emitDecoratorMetadata` is set, which esbuild does not support. */
  readonly emitsDecoratorMetadata: boolean;
}

/** Error for a tsconfig.json that is not valid. */
export class InvalidTsconfig extends Error {}

/**
 * Reads the tsconfig.json or jsconfig.json nearest to the entrypoint, with the files that it extends. Ignores missing files, because
 * packages for development are not uploaded. Undefined without either file. Throws InvalidTsconfig.
 */
export async function readTsconfig(read: ReadText, entrypoint: string): Promise<Tsconfig | undefined> {
  for (const folder of foldersAbove(entrypoint))
    for (const name of ["tsconfig.json", "jsconfig.json"]) {
      const file = joinPath(folder, name);
      const text = await read(file);
      if (text === undefined) continue;
      const options = await mergeOptions(read, { file, text }, new Set());
      const { emitDecoratorMetadata } = options.values;
      return { file, compilerOptions: compiled(options, folder), emitsDecoratorMetadata: emitDecoratorMetadata === true };
    }
  return undefined;
}

/**
 * Returns esbuild's JSX mode for files without a JSX comment. The mode is `transform` if tsconfig.json sets a factory but not `jsx`.
 * Otherwise the mode is `automatic`, which the option `jsx` overrides in esbuild.
 */
export function jsxMode(config: Tsconfig | undefined): "automatic" | "transform" {
  const { jsx, jsxFactory, jsxFragmentFactory } = config?.compilerOptions ?? {};
  return jsx === undefined && (jsxFactory !== undefined || jsxFragmentFactory !== undefined) ? "transform" : "automatic";
}

/** Returns warnings about compiler options that esbuild does not support. */
export function tsconfigWarnings(config: Tsconfig | undefined): string[] {
  if (!config?.emitsDecoratorMetadata) return [];
  return [
    `${config.file}: esbuild does not support emitDecoratorMetadata, so decorators get no types. Name them in the code, as with @Inject(), or compile with tsc first.`,
  ];
}

interface ConfigFile {
  readonly file: string;
  readonly text: string;
}

interface MergedOptions {
  readonly values: Readonly<Record<string, unknown>>;
  readonly baseUrl?: string | undefined;
  readonly paths?: { readonly patterns: Readonly<Record<string, unknown>>; readonly folder: string } | undefined;
}

/** Merges the options of a file and of the files that it extends. The options of the extending file have priority. */
async function mergeOptions(read: ReadText, { file, text }: ConfigFile, visited: ReadonlySet<string>): Promise<MergedOptions> {
  const folder = joinPath(file, "..");
  const content = parseJsonWithComments(text, file);
  const values = recordOf(content["compilerOptions"]);
  let merged: MergedOptions = { values: {} };
  for (const base of [content["extends"]].flat()) {
    const found = typeof base === "string" ? await findBase(read, folder, base) : undefined;
    if (found === undefined || visited.has(found.file)) continue;
    const inherited = await mergeOptions(read, found, new Set([...visited, file]));
    merged = { ...merged, ...inherited, values: { ...merged.values, ...inherited.values } };
  }
  const { baseUrl, paths } = values;
  return {
    values: { ...merged.values, ...values },
    baseUrl: typeof baseUrl === "string" ? pathInPackage(baseUrl, folder) : merged.baseUrl,
    paths: paths === undefined ? merged.paths : { patterns: recordOf(paths), folder },
  };
}

/** Returns the file that an `extends` value names, by a path or as a file of an installed package. Undefined if no such file exists. */
async function findBase(read: ReadText, folder: string, specifier: string): Promise<ConfigFile | undefined> {
  if (specifier.startsWith("/")) return undefined;
  const isPath = /^\.{1,2}(?:\/|$)/.test(specifier);
  const folders = isPath ? [folder] : foldersAbove(joinPath(folder, "file")).map((above) => joinPath(above, "node_modules"));
  const candidates = folders.map((each) => joinPath(each, specifier));
  for (const resolved of candidates)
    for (const file of [resolved, `${resolved}.json`, `${resolved}/tsconfig.json`]) {
      const text = await read(file);
      if (text !== undefined) return { file, text };
    }
  return undefined;
}

/** Returns the compiler options for esbuild. `folder` contains the tsconfig.json nearest to the entrypoint. */
function compiled({ values, baseUrl, paths }: MergedOptions, folder: string): Record<string, unknown> {
  const base = baseUrl ?? paths?.folder ?? "";
  // Path from `baseUrl` to the package folder. esbuild resolves paths relative to `baseUrl`.
  const toRoot = "../".repeat((baseUrl ?? "").split("/").filter(Boolean).length);
  const insideOnly = (target: unknown): string[] => {
    if (typeof target !== "string") return [];
    const isInConfigFolder = target.startsWith(`${configFolder}/`);
    const resolved = isInConfigFolder ? pathInPackage(target.slice(configFolder.length + 1), folder) : pathInPackage(target, base);
    return resolved === undefined ? [] : [`./${toRoot}${resolved}`];
  };
  const patterns = Object.entries(paths?.patterns ?? {}).flatMap(([pattern, targets]) => {
    const inside = Array.isArray(targets) ? targets.flatMap(insideOnly) : [];
    return inside.length === 0 ? [] : [[pattern, inside] as const];
  });
  return {
    ...Object.fromEntries(compiledOptions.flatMap((name) => (values[name] === undefined ? [] : [[name, values[name]]]))),
    ...(baseUrl !== undefined && { baseUrl: `./${baseUrl}` }),
    ...(patterns.length > 0 && { paths: Object.fromEntries(patterns) }),
  };
}

/** Returns a path relative to the package folder. Undefined for a path outside of the package folder. */
function pathInPackage(target: string, folder: string): string | undefined {
  const resolved = joinPath(folder, target);
  return target.startsWith("/") || /^\.\.(?:\/|$)/.test(resolved) ? undefined : resolved;
}

/**
 * Resolves a path with `.` and `..` against a folder. Both paths are relative to the package folder; an empty text means the package
 * folder.
 */
function joinPath(folder: string, target: string): string {
  const parts: string[] = [];
  for (const part of `${folder}/${target}`.split("/")) {
    if (part === ".." && parts.length > 0 && parts.at(-1) !== "..") parts.pop();
    else if (part !== "" && part !== ".") parts.push(part);
  }
  return parts.join("/");
}

/** Returns the folders above a file, nearest first. */
function foldersAbove(file: string): string[] {
  const parts = file.split("/").slice(0, -1);
  return [...parts.map((_, index) => parts.slice(0, parts.length - index).join("/")), ""];
}

/** Parses JSON with comments and trailing commas, as TypeScript does. */
function parseJsonWithComments(text: string, file: string): Record<string, unknown> {
  const plain = text
    .replace(/^\uFEFF/, "")
    .replace(/("(?:\\.|[^"\\])*")|\/\/[^\n]*|\/\*[^]*?\*\//g, (_, literal?: string) => literal ?? " ")
    .replace(/("(?:\\.|[^"\\])*")|,(?=\s*[}\]])/g, (_, literal?: string) => literal ?? "");
  try {
    return recordOf(plain.trim() === "" ? {} : JSON.parse(plain));
  } catch (error) {
    throw new InvalidTsconfig(`${file} is not valid JSON.`, { cause: error });
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {};
}
