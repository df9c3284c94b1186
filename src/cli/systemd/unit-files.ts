import { readFile } from "node:fs/promises";
import path from "node:path";
import { installedFile } from "../installed-file.js";
import type { ServiceMode } from "./service-mode.js";
import { execFile } from "node:child_process";
import { promisify } from "node:util";

export const serviceUnit = "runtimed.service";
export const socketUnit = "runtimed.socket";

const templates = installedFile("dist/builtin/systemd");

const probeTimeoutMs = 20_000;

export interface UnitFile {
  readonly path: string;
  readonly content: string;
}

/** The values of the unit files that differ between machines. */
interface UnitChoices {
  /** Absolute path of the Node.js program. */
  readonly node: string;
  readonly program: string;
  /**
   * Value of ListenStream in the socket unit, such as `127.0.0.1:8000`. If undefined, the unit keeps the two loopback addresses of the
   * template.
   */
  readonly listen: string | undefined;
  /** Whether the daemon itself notifies systemd. If false, a helper program notifies systemd, and the unit needs NotifyAccess=all. */
  readonly canNotify: boolean;
  /** Whether the daemon stops at its start if Landlock or seccomp is not available. */
  readonly isStrict: boolean;
  /** Value of `RUNTIME_PANEL_HOST` in the unit. If undefined, the unit does not set the variable. */
  readonly panelHost: string | undefined;
}

/** Returns the service and socket units for this machine. */
export async function unitFiles(
  mode: ServiceMode,
  { node, program, listen, canNotify, isStrict, panelHost }: UnitChoices,
): Promise<readonly UnitFile[]> {
  const [service, socket] = await Promise.all([mode.template, socketUnit].map((file) => readFile(path.join(templates, file), "utf8")));
  const settings = { ExecStart: `${quoted(node)} ${quoted(program)}`, ...(!canNotify && { NotifyAccess: "all" }) };
  const environment = {
    ...(isStrict && { RUNTIME_ISOLATION: "strict" }),
    ...(panelHost !== undefined && { RUNTIME_PANEL_HOST: panelHost }),
  };
  return [
    { path: path.join(mode.unitDirectory, serviceUnit), content: withEnvironment(withSettings(service ?? "", settings), environment) },
    { path: path.join(mode.unitDirectory, socketUnit), content: withListen(socket ?? "", listen) },
  ];
}

/** Sets environment variables in a unit. The template has one line for each variable. The line can be commented out. */
function withEnvironment(unit: string, environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^#?Environment=${name}=.*$`, "m"), () => `Environment=${name}=${value}`),
    unit,
  );
}

function withListen(unit: string, listen: string | undefined): string {
  return listen === undefined ? unit : unit.replace(/^ListenStream=[^]*^FreeBind=yes\n/m, `ListenStream=${listen}\n`);
}

/** Sets the values of settings in a unit. The template has exactly one line for each setting. */
function withSettings(unit: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, "m"), () => `${name}=${value}`),
    unit,
  );
}

/** Quotes a path for a unit file, because systemd interprets `%`, `$`, quotes and white space. */
function quoted(file: string): string {
  const escaped = file.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./-]+$/.test(file) ? escaped : `"${escaped}"`;
}

/** Returns the text of the installed service unit. Undefined if the unit is not installed. */
export async function readPresentUnit(mode: ServiceMode): Promise<string | undefined> {
  return await readFile(path.join(mode.unitDirectory, serviceUnit), "utf8").catch(() => undefined);
}

/** Returns the value of an environment variable in a unit. Undefined if the unit does not set the variable. */
export function environmentOf(unit: string | undefined, variable: string): string | undefined {
  return unit
    ?.split("\n")
    .find((line) => line.startsWith(`Environment=${variable}=`))
    ?.slice(`Environment=${variable}=`.length);
}

/**
 * Whether the new unit must require strict isolation. For a first installation, true if the kernel supports Landlock and seccomp. Otherwise
 * the value of the present unit stays, so that an upgrade cannot prevent a start.
 */
export async function asksForStrictIsolation(presentUnit: string | undefined, node: string): Promise<boolean> {
  return presentUnit === undefined ? await offersIsolation(node) : environmentOf(presentUnit, "RUNTIME_ISOLATION") === "strict";
}

/** Whether the kernel supports Landlock and seccomp. The sandbox program of the daemon makes the check. */
async function offersIsolation(node: string): Promise<boolean> {
  const program = installedFile("dist/server/workers/sandbox/main.js");
  try {
    const { stdout } = await promisify(execFile)(node, [program], { timeout: probeTimeoutMs, env: {} });
    const { landlock, seccomp } = JSON.parse(stdout) as Record<"landlock" | "seccomp", { isActive: boolean }>;
    return landlock.isActive && seccomp.isActive;
  } catch {
    return false;
  }
}
