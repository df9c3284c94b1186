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

/** What differs from one machine to another. */
interface UnitChoices {
  /** Absolute, as all paths here. */
  readonly node: string;
  readonly program: string;
  /** What systemd takes as ListenStream, such as `127.0.0.1:8000`; undefined = both loopback addresses, as in the template. */
  readonly listen: string | undefined;
  /** False = a helper program sends the daemon's notes, which systemd then has to take from any process of the service. */
  readonly canNotify: boolean;
  /** The service does not start where the kernel does not restrict isolates. */
  readonly isStrict: boolean;
  /** `RUNTIME_PANEL_HOST`; undefined = not set. */
  readonly panelHost: string | undefined;
}

/** The unit files for this machine. */
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

/** With other values for variables that the template has, as a setting or as a comment. */
function withEnvironment(unit: string, environment: Readonly<Record<string, string>>): string {
  return Object.entries(environment).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^#?Environment=${name}=.*$`, "m"), () => `Environment=${name}=${value}`),
    unit,
  );
}

function withListen(unit: string, listen: string | undefined): string {
  return listen === undefined ? unit : unit.replace(/^ListenStream=[^]*^FreeBind=yes\n/m, `ListenStream=${listen}\n`);
}

/** The text of a unit with other values for settings that it has once each. */
function withSettings(unit: string, settings: Readonly<Record<string, string>>): string {
  return Object.entries(settings).reduce(
    (text, [name, value]) => text.replace(new RegExp(`^${name}=.*$`, "m"), () => `${name}=${value}`),
    unit,
  );
}

/** A path as systemd reads it: `%`, `$`, quotes and white space would mean something. */
function quoted(file: string): string {
  const escaped = file.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("%", "%%").replaceAll("$", "$$$$");
  return /^[\w@%+=:,./-]+$/.test(file) ? escaped : `"${escaped}"`;
}

/** Reads the unit file of the service; returns undefined when it is not installed. */
export async function readPresentUnit(mode: ServiceMode): Promise<string | undefined> {
  return await readFile(path.join(mode.unitDirectory, serviceUnit), "utf8").catch(() => undefined);
}

/** The value that a unit gives a variable of its service. */
export function environmentOf(unit: string | undefined, variable: string): string | undefined {
  return unit
    ?.split("\n")
    .find((line) => line.startsWith(`Environment=${variable}=`))
    ?.slice(`Environment=${variable}=`.length);
}

/**
 * Whether the unit asks for strict isolation: a new one where the kernel offers both layers, a unit that is there already as it does now,
 * since an upgrade must not keep a service from starting that ran before.
 */
export async function asksForStrictIsolation(presentUnit: string | undefined, node: string): Promise<boolean> {
  return presentUnit === undefined ? await offersIsolation(node) : environmentOf(presentUnit, "RUNTIME_ISOLATION") === "strict";
}

/** Whether the daemon's sandbox program finds both layers of the kernel. */
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
