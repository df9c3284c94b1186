import { existsSync } from "node:fs";
import path from "node:path";
import { usageError } from "../command/command-error.js";
import { readFileIfThere } from "./read-file-if-there.js";

const projectFileName = ".runtimectl.yaml";
/**
 * Settings that a project file must not contain. Otherwise the author of a cloned repository could select the server that receives the key,
 * or the certificate authorities to trust.
 */
const forbiddenKeys = ["url", "key", "keyFile", "cacert", "insecure"] as const;

export interface Project {
  readonly file: string;
  readonly profile: string | undefined;
}

/** Returns the nearest project file: in the folder `from` or a parent folder, up to the repository root or the home folder. */
export async function findProject(from: string, home: string): Promise<Project | undefined> {
  const file = path.join(from, projectFileName);
  const text = readFileIfThere(file);
  if (text !== undefined) return { file, profile: await profileIn(file, text) };
  const parent = path.dirname(from);
  if (parent === from || from === home || existsSync(path.join(from, ".git"))) return undefined;
  return findProject(parent, home);
}

async function profileIn(file: string, text: string): Promise<string | undefined> {
  // Loads the YAML parser only if a project file exists, because loading the parser delays the start of a command.
  const { parse } = await import("./parse-yaml.js");
  const settings = mapIn(() => parse(text) as unknown);
  const profile = settings?.["profile"];
  if (settings === undefined || (profile !== undefined && typeof profile !== "string"))
    throw usageError(`${file} must be a YAML map with the key profile, such as profile: staging`);
  const forbidden = forbiddenKeys.find((key) => key in settings);
  if (forbidden !== undefined)
    throw usageError(
      `${file} sets ${forbidden}; a project file can only select a profile, not a URL, key or certificate`,
      `remove ${forbidden} from the file`,
    );
  return profile;
}

/** Returns the map in a YAML file, or an empty map for an empty file. Returns undefined if the YAML is invalid or not a map. */
function mapIn(parse: () => unknown): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parse() ?? {};
    return typeof value === "object" && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined;
  } catch {
    return undefined;
  }
}
