import { readFile } from "node:fs/promises";
import path from "node:path";
import { installedFile } from "../installed-file.js";
import type { ServiceMode } from "./service-mode.js";

export const serviceUnit = "runtimed.service";
export const socketUnit = "runtimed.socket";

const templates = installedFile("dist/builtin/systemd");

export interface UnitFile {
  readonly path: string;
  readonly content: string;
}

/** What differs from one machine to another. */
export interface UnitChoices {
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
