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
/** Variable in a tsconfig.json that TypeScript replaces with the folder of the file whose `extends` names the base file. */
const configFolder = "${configDir}";

/** The settings of a tsconfig.json for a compilation. */
export interface Tsconfig {
  /** Path of the tsconfig.json, relative to the package folder. */
  readonly file: string;
  /** Compiler options in the form that esbuild accepts. Paths are relative to the package folder, and paths outside of it are removed. */
  readonly compilerOptions: Readonly<Record<string, unknown>>;
  /** Whether `emitDecoratorMetadata` is set, which esbuild does not support. */
  readonly emitsDecoratorMetadata: boolean;
}

/** Error for a tsconfig.json that is not valid. */
export class InvalidTsconfig extends Error {}

/**
 * Reads the tsconfig.json or jsconfig.json nearest to the entrypoint, with its base files. Undefined if the package has neither file. Ignores missing base
 * files, because development packages are not uploaded. Throws InvalidTsconfig.
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

/** Returns esbuild's JSX mode for files without a pragma: automatic, unless tsconfig.json sets only a factory. `jsx` overrides it. */
export function jsxMode(config: Tsconfig | undefined): "automatic" | "transform" {
  const { jsx, jsxFactory, jsxFragmentFactory } = config?.compilerOptions ?? {};
  return jsx === undefined && (jsxFactory !== undefined || jsxFragmentFactory !== undefined) ? "transform" : "automatic";
}

/** Returns the warnings about settings without an effect. */
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

/** Merges the options of a file and of the files that it extends. Options of the extending file override. */
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
    baseUrl: typeof baseUrl === "string" ? placeOf(baseUrl, folder) : merged.baseUrl,
    paths: paths === undefined ? merged.paths : { patterns: recordOf(paths), folder },
  };
}

/** Returns the base file of `extends`: a path, or a file of an installed package. */
async function findBase(read: ReadText, folder: string, specifier: string): Promise<ConfigFile | undefined> {
  if (specifier.startsWith("/")) return undefined;
  const isPath = /^\.{1,2}(?:\/|$)/.test(specifier);
  const folders = isPath ? [folder] : foldersAbove(joinPath(folder, "file")).map((above) => joinPath(above, "node_modules"));
  const places = folders.map((each) => joinPath(each, specifier));
  for (const place of places)
    for (const file of [place, `${place}.json`, `${place}/tsconfig.json`]) {
      const text = await read(file);
      if (text !== undefined) return { file, text };
    }
  return undefined;
}

/** Returns the options for esbuild. `folder` contains the tsconfig.json nearest to the entrypoint. */
function compiled({ values, baseUrl, paths }: MergedOptions, folder: string): Record<string, unknown> {
  const base = baseUrl ?? paths?.folder ?? "";
  // Leads from `baseUrl` to the package folder, because esbuild resolves the paths against `baseUrl`.
  const toRoot = "../".repeat((baseUrl ?? "").split("/").filter(Boolean).length);
  const insideOnly = (target: unknown): string[] => {
    if (typeof target !== "string") return [];
    const isInConfigFolder = target.startsWith(`${configFolder}/`);
    const place = isInConfigFolder ? placeOf(target.slice(configFolder.length + 1), folder) : placeOf(target, base);
    return place === undefined ? [] : [`./${toRoot}${place}`];
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

/** Returns a path relative to the package folder. Undefined for a path outside of it. */
function placeOf(target: string, folder: string): string | undefined {
  const place = joinPath(folder, target);
  return target.startsWith("/") || /^\.\.(?:\/|$)/.test(place) ? undefined : place;
}

/** Resolves a path with `.` and `..` against a folder. All paths are relative to the package folder, for which the empty text stands. */
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
