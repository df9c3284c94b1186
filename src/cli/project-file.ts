import { existsSync } from "node:fs";
import { homedir } from "node:os";
import path from "node:path";
import * as yaml from "yaml";
import * as z from "zod";
import { usageError } from "./command-error.js";
import { readFileIfThere } from "./config-file.js";

const projectFileName = ".runtimectl.yaml";
/** A cloned repository must not decide where a key is sent, or whom to trust. */
const forbiddenKeys = ["url", "key", "keyFile", "cacert", "insecure"] as const;
const ProjectFile = z.looseObject({ profile: z.string().optional() });

export interface Project {
  readonly file: string;
  readonly profile: string | undefined;
}

/** The nearest project file, from the folder up to the root of its repository. */
export function findProject(from: string): Project | undefined {
  const file = path.join(from, projectFileName);
  const text = readFileIfThere(file);
  if (text !== undefined) return { file, profile: profileIn(file, text) };
  const parent = path.dirname(from);
  if (parent === from || from === homedir() || existsSync(path.join(from, ".git"))) return undefined;
  return findProject(parent);
}

function profileIn(file: string, text: string): string | undefined {
  const parsed = ProjectFile.safeParse(parseYaml(text) ?? {});
  if (!parsed.success) throw usageError(`${file} cannot be used: it must be a YAML map, and profile a name`);
  const forbidden = forbiddenKeys.find((key) => key in parsed.data);
  if (forbidden !== undefined)
    throw usageError(
      `${file} sets ${forbidden}; a project file may name a profile, never a URL, key or certificate`,
      `remove ${forbidden} from it`,
    );
  return parsed.data.profile;
}

function parseYaml(text: string): unknown {
  try {
    return yaml.parse(text) as unknown;
  } catch {
    return false;
  }
}
