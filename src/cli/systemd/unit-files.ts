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

/** The machine-specific values of the units. */
interface UnitChoices {
  /** Absolute path. */
  readonly node: string;
  readonly program: string;
  /** Value of ListenStream, such as `127.0.0.1:8000`. Undefined: both loopback addresses, as in the template. */
  readonly listen: string | undefined;
  /** False: a helper program notifies systemd, which requires NotifyAccess=all. */
  readonly canNotify: boolean;
  /** Whether the service refuses to start without Landlock and seccomp. */
  readonly isStrict: boolean;
  /** `RUNTIME_PANEL_HOST`; undefined = not set. */
  readonly panelHost: string | undefined;
}

/** Returns the unit files for this machine. */
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

/** Sets variables that the template contains, active or commented out. */
function withEnvironment(unit: string, environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^#?Environment=${name}=.*$`, "m"), () => `Environment=${name}=${value}`),
    unit,
  );
}

function withListen(unit: string, listen: string | undefined): string {
  return listen === undefined ? unit : unit.replace(/^ListenStream=[^]*^FreeBind=yes\n/m, `ListenStream=${listen}\n`);
}

/** Sets values of unit settings that occur once each. */
function withSettings(unit: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, "m"), () => `${name}=${value}`),
    unit,
  );
}

/** Quotes a path for systemd, in which `%`, `$`, quotes and white space are special. */
function quoted(file: string): string {
  const escaped = file.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./-]+$/.test(file) ? escaped : `"${escaped}"`;
}

/** Reads the unit file of the service; returns undefined when it is not installed. */
export async function readPresentUnit(mode: ServiceMode): Promise<string | undefined> {
  return await readFile(path.join(mode.unitDirectory, serviceUnit), "utf8").catch(() => undefined);
}

/** Returns the value of a variable in a unit. */
export function environmentOf(unit: string | undefined, variable: string): string | undefined {
  return unit
    ?.split("\n")
    .find((line) => line.startsWith(`Environment=${variable}=`))
    ?.slice(`Environment=${variable}=`.length);
}

/**
 * Whether the unit requires strict isolation. A new unit does if the kernel supports both layers. An existing unit keeps its setting,
 * because an upgrade must not prevent the service from starting.
 */
export async function asksForStrictIsolation(presentUnit: string | undefined, node: string): Promise<boolean> {
  return presentUnit === undefined ? await offersIsolation(node) : environmentOf(presentUnit, "RUNTIME_ISOLATION") === "strict";
}

/** Whether the kernel supports Landlock and seccomp, checked with the daemon's sandbox program. */
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
