import { isHost } from "../../../shared/host.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { runSteps, chosenMode, serviceOptions, type ServiceOptions } from "../../systemd/run-steps.js";
import { findServiceProgram } from "../../systemd/service-mode.js";
import { asksForStrictIsolation, environmentOf, readPresentUnit, serviceUnit, socketUnit, unitFiles } from "../../systemd/unit-files.js";
import { call, makeRootKey, writeUnit, type ServiceStep } from "../../systemd/service-step.js";
import { Systemctl } from "../../systemd/systemctl.js";

const defaultListen = "127.0.0.1:8000";

interface Options extends ServiceOptions {
  readonly listen?: string;
  readonly node?: string;
  readonly panelHost?: string;
}

export const command = defineCommand<[], Options>({
  options: [
    ...serviceOptions,
    {
      flags: "--listen <address>",
      description: `Listen on this address and port, or this socket path (default: ${defaultListen} and the same port on ::1)`,
    },
    {
      flags: "--panel-host <host>",
      description: "Serve the panel only on this host name, such as panel.example.org (default: unchanged)",
    },
    { flags: "--node <program>", description: "The Node.js program of the service (default: the one that runs this command)" },
  ],
  fields: ["mode", "dryRun", "changed", "steps", "listen", "rootKeyFile"],
  examples: [
    ["runtimectl daemon install --dry-run", "show what would be written and run"],
    ["sudo runtimectl daemon install", "install for the machine; starts now and at every boot"],
    ["runtimectl daemon install --user", "install for your user; runs while you are signed in"],
    ["sudo runtimectl daemon install --listen 0.0.0.0:80 --yes", "use another address, without confirmation"],
    ["sudo runtimectl daemon install --panel-host panel.example.org", "serve the panel on its own host name behind a proxy"],
  ],
  notes:
    "Writes runtimed.service and runtimed.socket, creates a root key if there is none, and enables and starts both units.\n" +
    "If you run it again, such as after an upgrade, it changes only what differs.\n" +
    "Put your settings into the file environment beside the root key, or into a drop-in (systemctl edit runtimed). The command changes neither.\n" +
    "Exits with 1 if this machine does not run systemd.",
  async run(context, _values, options) {
    const mode = chosenMode(context, options);
    const listen = options.listen === undefined ? undefined : checkListen(options.listen);
    const program = await findServiceProgram(context, mode, options.node);
    if (!program.canNotify)
      context.output.warn(
        "the package koffi cannot be loaded, so the daemon notifies systemd with systemd-notify: the unit gets NotifyAccess=all, which also allows notifications from workers",
      );
    const present = await readPresentUnit(mode);
    const isStrict = await asksForStrictIsolation(present, program.node);
    const panelHost = options.panelHost === undefined ? environmentOf(present, "RUNTIME_PANEL_HOST") : checkPanelHost(options.panelHost);
    const units = (await unitFiles(mode, { ...program, listen, isStrict, panelHost })).map(writeUnit);
    const steps = [
      await makeRootKey(mode.rootKeyFile),
      ...units,
      ...systemctlSteps(new Systemctl(mode, context.variables), units, options.root !== undefined),
    ];
    const isDone = await runSteps(context, {
      mode,
      options,
      steps,
      consequence: `Install the ${mode.name} service runtimed`,
      facts: { listen: listen ?? defaultListen, rootKeyFile: mode.rootKeyFile },
    });
    if (isDone && options.root === undefined) context.output.note(`sign in with: ${signInLine(listen ?? defaultListen, mode.rootKeyFile)}`);
  },
});

/**
 * Returns the steps that call systemctl. If the address changes, the service must stop first, because systemd does not start a socket unit
 * while its service runs.
 */
function systemctlSteps(systemctl: Systemctl, [service, socket]: readonly ServiceStep[], isOffline: boolean): ServiceStep[] {
  const [newService = false, newSocket = false] = [service?.isNeeded, socket?.isNeeded];
  const isNew = newService || newSocket;
  const enable = call(systemctl, ["enable", socketUnit, serviceUnit], isNew);
  if (isOffline) return [enable];
  return [
    call(systemctl, ["daemon-reload"], isNew),
    enable,
    call(systemctl, ["stop", serviceUnit, socketUnit], newSocket),
    call(systemctl, ["start", socketUnit], newSocket),
    call(systemctl, ["restart", serviceUnit], isNew),
  ];
}

/**
 * Returns a valid `--listen` value, else throws a usage error. The value must not contain a line feed, because it becomes a line of the
 * unit file.
 */
function checkListen(listen: string): string {
  if (/^(?:(?:\[[\da-f:.]+\]|[\d.]+):)?\d{1,5}$|^\/[\w@+,./-]+$/i.test(listen)) return listen;
  throw usageError(
    `--listen ${listen} is not valid: use an address and a port such as 127.0.0.1:8000 or [::1]:8000, a port, or a socket path`,
  );
}

function checkPanelHost(host: string): string {
  const isSound: boolean = isHost(host);
  if (isSound) return host;
  throw usageError(`--panel-host ${host} is not valid: use a host name with an optional port, such as panel.example.org`);
}

function signInLine(listen: string, rootKeyFile: string): string {
  const address = /^\d+$/.test(listen) ? `127.0.0.1:${listen}` : listen.replace(/^(?:0\.0\.0\.0|\[::\]):/, "127.0.0.1:");
  return `runtimectl auth login${listen.startsWith("/") ? "" : ` --url http://${address}`} --key-file ${rootKeyFile}`;
}
