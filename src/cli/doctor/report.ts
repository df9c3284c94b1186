import { writeFileSync } from "node:fs";
import path from "node:path";
import { CommandError } from "../command/command-error.js";
import type { Context } from "../command/command.js";
import { exitCodes } from "../command/exit-codes.js";
import { printableJson } from "../output/sanitize-for-terminal.js";
import { readProfiles } from "../config/read-profiles.js";
import type { Settings } from "../config/settings.js";
import { version } from "../version.js";

/** The result of one check of `doctor`. */
export interface Finding {
  readonly check: string;
  readonly status: "ok" | "warn" | "fail";
  readonly message: string;
  /** The command or action that fixes the problem. Undefined if the status is `ok`. */
  readonly hint?: string;
}

export function ok(check: string, message: string): Finding {
  return { check, status: "ok", message };
}

export function warn(check: string, message: string, hint: string): Finding {
  return { check, status: "warn", message, hint };
}

export function fail(check: string, message: string, hint: string): Finding {
  return { check, status: "fail", message, hint };
}

/** Writes a report to a new file that only the current user can read, and returns the path of the file. The report contains no API key. */
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
      throw new CommandError("FILE_EXISTS", `${file} already exists`, { exitCode: exitCodes.conflict, hint: "choose another name" });
    throw new CommandError("FILE_NOT_WRITTEN", `${file} cannot be written: ${code}`, { exitCode: exitCodes.failed });
  }
  return file;
}
