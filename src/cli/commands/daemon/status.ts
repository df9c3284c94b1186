import { ready } from "../../../shared/contract/health.js";
import { CommandError } from "../../command/command-error.js";
import { defineCommand, type Context } from "../../command/command.js";
import { connectAnonymously } from "../../client/connection.js";
import { exitCodes } from "../../command/exit-codes.js";
import { describeFailure } from "../../command/failure.js";
import { serviceMode, type ServiceMode } from "../../systemd/service-mode.js";
import { assertSystemd, Systemctl } from "../../systemd/systemctl.js";
import { serviceUnit, socketUnit } from "../../systemd/unit-files.js";

interface Options {
  readonly user?: boolean;
}

const serviceProperties = ["LoadState", "ActiveState", "SubState", "StatusText", "UnitFileState", "MainPID", "NRestarts", "Result"];

export const command = defineCommand<[], Options>({
  options: [{ flags: "--user", description: "Show your user's service instead of the system service" }],
  fields: ["mode", "state", "detail", "enabled", "status", "pid", "restarts", "listen", "ready", "readiness"],
  examples: [
    ["runtimectl daemon status", "show the state of the service and the readiness of the daemon"],
    ["runtimectl daemon status --json=state,ready", "for monitoring; exits with 8 unless active and ready"],
  ],
  notes:
    "Queries systemd, and the daemon at the address of the socket unit or of --url. Requires no key.\n" +
    "Exits with 6 if the service is not installed, with 8 if it is not active or not ready, and with 1 if this machine does not run systemd.",
  async run(context, _values, options) {
    const mode = serviceMode(options.user ?? false, context.directories.home);
    assertSystemd();
    const systemctl = new Systemctl(mode, context.variables);
    const service = await systemctl.properties(serviceUnit, serviceProperties);
    if (service["LoadState"] === "not-found") throw notInstalled(mode);
    const { Listen: listen = "" } = await systemctl.properties(socketUnit, ["Listen"]);
    const readiness = await readinessAt(context, originOf(listen));
    const isReady = readiness === "ready";
    const { ActiveState: state = "unknown", SubState: detail = "", UnitFileState: enabled = "", StatusText: status = "" } = service;
    context.output.facts(
      {
        mode: mode.name,
        state,
        detail,
        enabled,
        status,
        pid: Number(service["MainPID"] ?? 0) || null,
        restarts: Number(service["NRestarts"] ?? 0),
        listen,
        ready: isReady,
        readiness,
      },
      [
        ["service", `${state} (${detail}), ${enabled || "not enabled"}`],
        ["status", status || undefined],
        ["process", service["MainPID"] === "0" ? undefined : service["MainPID"]],
        ["restarts", service["NRestarts"] === "0" ? undefined : `${service["NRestarts"]}, last result: ${service["Result"]}`],
        ["address", listen || undefined],
        ["health", readiness],
      ],
    );
    return state === "active" && isReady ? exitCodes.ok : exitCodes.unavailable;
  },
});

function notInstalled({ name }: ServiceMode): CommandError {
  return new CommandError("SERVICE_NOT_INSTALLED", `there is no ${name} service ${serviceUnit}`, {
    exitCode: exitCodes.notFound,
    hint: name === "user" ? "runtimectl daemon install --user" : "sudo runtimectl daemon install",
  });
}

/**
 * Returns the origin for the property `Listen` of a systemd unit, such as `127.0.0.1:8000 (Stream)`. Undefined for a socket path or an
 * empty property.
 */
function originOf(listen: string): string | undefined {
  const [, address] = /^(\S+:\d+) \(Stream\)/.exec(listen) ?? [];
  return address && `http://${address.replace(/^0\.0\.0\.0:/, "127.0.0.1:").replace(/^\[::\]:/, "[::1]:")}`;
}

/** Returns `ready`, or the reason why the daemon is not ready. */
async function readinessAt(context: Context, origin: string | undefined): Promise<string> {
  const url = context.flags.url ?? origin;
  if (url === undefined) return "unknown: set the daemon's address with --url";
  try {
    const { client } = await connectAnonymously({ ...context, flags: { ...context.flags, url } }, { health: { ready } });
    return (await client.health.ready()).status;
  } catch (error) {
    return describeFailure(error).message;
  }
}
