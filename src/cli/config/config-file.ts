import { mkdirSync } from "node:fs";
import path from "node:path";
import * as yaml from "yaml";
import * as z from "zod/mini";
import { CommandError } from "../command/command-error.js";
import { configFile } from "./config-directory.js";
import { exitCodes } from "../command/exit-codes.js";
import { readFileIfThere } from "./read-file-if-there.js";
import { validationMessage } from "../../shared/validation-message.js";

const Profile = z.object({
  url: z.string(),
  cacert: z.optional(z.string()),
  production: z.optional(z.boolean()),
  readonly: z.optional(z.boolean()),
});
export type Profile = z.output<typeof Profile>;

const Ui = z.object({
  accessible: z.optional(z.boolean()),
  refresh: z.optional(z.string()),
  keys: z.optional(z.record(z.string(), z.string())),
});
/** Settings of `runtimectl tui`: screen reader mode, polling interval and shortcuts. */
export type Ui = z.output<typeof Ui>;

const Config = z.object({
  current: z.optional(z.string()),
  profiles: z.optional(z.record(z.string(), Profile)),
  ui: z.optional(Ui),
});

/** The content of config.yaml: profiles, the current profile, and the dashboard settings. */
export interface Profiles {
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly ui?: Ui | undefined;
}

/** The file config.yaml with the profiles, without secrets. Changes preserve comments and order, because users edit the file by hand. */
export class ConfigFile implements Profiles {
  readonly file: string;
  readonly #document: yaml.Document.Parsed | yaml.Document;
  readonly current: string | undefined;
  readonly profiles: ReadonlyMap<string, Profile>;
  readonly ui: Ui | undefined;

  private constructor(file: string, document: yaml.Document.Parsed | yaml.Document, config: z.output<typeof Config>) {
    this.file = file;
    this.#document = document;
    this.current = config.current;
    this.profiles = new Map(Object.entries(config.profiles ?? {}));
    this.ui = config.ui;
  }

  /** Reads config.yaml. Treats a missing file as empty. Throws CONFIG_INVALID for invalid content. */
  static open(directory: string): ConfigFile {
    const file = configFile(directory);
    const document = yaml.parseDocument(readFileIfThere(file) ?? "");
    const parsed = Config.safeParse(document.errors.length > 0 ? undefined : (document.toJS() ?? {}), { error: validationMessage });
    if (!parsed.success) throw badConfig(file, document.errors[0]?.message ?? z.prettifyError(parsed.error));
    return new ConfigFile(file, document, parsed.data);
  }

  setProfile(name: string, profile: Profile): void {
    for (const [key, value] of Object.entries(profile))
      if (value === undefined) this.#document.deleteIn(["profiles", name, key]);
      else this.#document.setIn(["profiles", name, key], value);
  }

  removeProfile(name: string): void {
    this.#document.deleteIn(["profiles", name]);
    if (this.current === name) this.#document.delete("current");
  }

  setCurrent(name: string): void {
    this.#document.set("current", name);
  }

  /** Writes config.yaml atomically: other processes read either the old or the new content. */
  async save(): Promise<void> {
    mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
    const { default: writeFileAtomic } = await import("write-file-atomic");
    await writeFileAtomic(this.file, String(this.#document), { mode: 0o600 });
  }
}

function badConfig(file: string, problem: string): CommandError {
  return new CommandError("CONFIG_INVALID", `${file} cannot be used: ${problem}`, {
    exitCode: exitCodes.usage,
    hint: "correct the file, or rename it and sign in again",
  });
}
