import { existsSync } from "node:fs";
import path from "node:path";
import { usageError } from "../command/command-error.js";
import { readFileIfThere } from "./read-file-if-there.js";

const projectFileName = ".runtimectl.yaml";
/** A cloned repository must not decide where a key is sent, or whom to trust. */
const forbiddenKeys = ["url", "key", "keyFile", "cacert", "insecure"] as const;

export interface Project {
  readonly file: string;
  readonly profile: string | undefined;
}

/** The nearest project file, from the folder up to the root of its repository or to the home folder. */
export async function findProject(from: string, home: string): Promise<Project | undefined> {
  const file = path.join(from, projectFileName);
  const text = readFileIfThere(file);
  if (text !== undefined) return { file, profile: await profileIn(file, text) };
  const parent = path.dirname(from);
  if (parent === from || from === home || existsSync(path.join(from, ".git"))) return undefined;
  return findProject(parent, home);
}

async function profileIn(file: string, text: string): Promise<string | undefined> {
  // Most commands run where no such file is; they need not load the parser.
  const { parse } = await import("./parse-yaml.js");
  const settings = mapIn(() => parse(text) as unknown);
  const profile = settings?.["profile"];
  if (settings === undefined || (profile !== undefined && typeof profile !== "string"))
    throw usageError(`${file} cannot be used: it must be a YAML map, and profile a name`);
  const forbidden = forbiddenKeys.find((key) => key in settings);
  if (forbidden !== undefined)
    throw usageError(
      `${file} sets ${forbidden}; a project file may name a profile, never a URL, key or certificate`,
      `remove ${forbidden} from it`,
    );
  return profile;
}

/** The map that is parsed, an empty one for an empty file; undefined when it is anything else. */
function mapIn(parse: () => unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parse() ?? {};
    return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
