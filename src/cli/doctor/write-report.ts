import { writeFileSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { printableJson } from "../output/sanitize-for-terminal.js";
import { readProfiles } from "../config/read-profiles.js";
import type { Settings } from "../config/settings.js";
import { version } from "../version.js";
import type { Finding } from "./finding.js";

/** Writes what helps somebody else to help, without keys, into a new file that its owner alone can read. Returns its path. */
export async function writeReport(
  context: Context,
  name: string,
  findings: readonly Finding[],
  settings: Settings | undefined,
): Promise<string> {
  const file = path.resolve(context.workingDirectory, name);
  const config = await readProfiles(context.directories.config).catch(() => undefined);
  const report = {
    createdAt: new Date().toISOString(),
    runtimectl: version,
    node: process.version,
    platform: `${process.platform} ${process.arch}`,
    findings,
    settings: settings && {
      origin: settings.origin,
      profile: settings.profile ?? null,
      keySource: settings.key?.source ?? null,
      timeoutMs: settings.timeout,
      insecure: settings.insecure,
      ownAuthorities: settings.certificateAuthorities !== undefined,
    },
    profiles: config && Object.fromEntries(config.profiles),
    variablesSet: Object.keys(context.environment),
  };
  try {
    writeFileSync(file, `${context.output.redacted(printableJson(report, 2))}\n`, { flag: "wx", mode: 0o600 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST")
      throw new CommandError("FILE_EXISTS", `${file} is there already`, { exitCode: exitCodes.conflict, hint: "choose another name" });
    throw new CommandError("FILE_NOT_WRITTEN", `${file} cannot be written: ${code}`, { exitCode: exitCodes.failed });
  }
  return file;
}
