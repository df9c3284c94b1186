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
      description: `Listen on this address and port, or path of a socket (default: ${defaultListen}, and the same port of ::1)`,
    },
    {
      flags: "--panel-host <host>",
      description:
        "Host name of operators, such as panel.example.org: the panel opens there alone (default: that of the present unit, if any)",
    },
    { flags: "--node <program>", description: "The Node that the service runs (default: the one that runs this)" },
  ],
  fields: ["mode", "dryRun", "changed", "steps", "listen", "rootKeyFile"],
  examples: [
    ["runtimectl daemon install --dry-run", "what would be written and run"],
    ["sudo runtimectl daemon install", "for the machine: starts now, and at every boot"],
    ["runtimectl daemon install --user", "for yourself, while you are signed in"],
    ["sudo runtimectl daemon install --listen 0.0.0.0:80 --yes", "unasked, on another address"],
    ["sudo runtimectl daemon install --panel-host panel.example.org", "behind a proxy, operators apart from workers"],
  ],
  notes:
    "Writes runtimed.service and runtimed.socket, makes a root key where there is none, enables and starts both. Run again it changes what differs, such as after an upgrade, and nothing else.\n" +
    "Settings of yours belong in the file environment beside the root key, or in a drop-in (systemctl edit runtimed): neither is touched.\n" +
    "Ends with 1 where systemd does not run the machine.",
  async run(context, _values, options) {
    const mode = chosenMode(context, options);
    const listen = options.listen === undefined ? undefined : checkListen(options.listen);
    const program = await findServiceProgram(context, mode, options.node);
    if (!program.canNotify)
      context.output.warn(
        "the package koffi cannot be loaded, so systemd-notify will speak for the daemon: the unit gets NotifyAccess=all, which lets workers speak, too",
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

/** systemd starts no socket while its service runs, so a new address needs the service to stop; anything else a restart at most. */
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

/** A line of a unit: nothing in it may begin another. */
function checkListen(listen: string): string {
  if (/^(?:(?:\[[\da-f:.]+\]|[\d.]+):)?\d{1,5}$|^\/[\w@+,./-]+$/i.test(listen)) return listen;
  throw usageError(`--listen ${listen}: an address and a port such as 127.0.0.1:8000 or [::1]:8000, a port, or the path of a socket`);
}

function checkPanelHost(host: string): string {
  const isSound: boolean = isHost(host);
  if (isSound) return host;
  throw usageError(`--panel-host ${host}: a host name with an optional port, such as panel.example.org`);
}

function signInLine(listen: string, rootKeyFile: string): string {
  const address = /^\d+$/.test(listen) ? `127.0.0.1:${listen}` : listen.replace(/^(?:0\.0\.0\.0|\[::\]):/, "127.0.0.1:");
  return `runtimectl auth login${listen.startsWith("/") ? "" : ` --url http://${address}`} --key-file ${rootKeyFile}`;
}
