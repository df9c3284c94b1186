import { drain, list, undrain } from "../../../shared/contract/instances.js";
import { parseDurationMs } from "../../../shared/duration.js";
import { connect } from "../../client/connection.js";
import { usageError } from "../../command/command-error.js";
import { defineCommand } from "../../command/command.js";
import { waitUntilDrained } from "./wait-until-drained.js";

interface Options {
  readonly undo?: boolean;
  readonly drainTimeout?: string;
}

const defaultTimeout = "60s";

export const command = defineCommand<[name: string], Options>({
  arguments: [{ syntax: "<name>", description: "Name or id of the daemon in runtimectl instances list" }],
  options: [
    {
      flags: "--drain-timeout <duration>",
      description: `Time limit for the requests in flight; 0 does not wait (default: ${defaultTimeout})`,
    },
    { flags: "--undo", description: "End the drain" },
  ],
  fields: ["name", "id", "draining", "requestsInFlight"],
  examples: [
    ["runtimectl instances drain eu-1", "before the daemon eu-1 is upgraded"],
    ["runtimectl instances drain eu-1 --undo", "let it report again that it is ready"],
  ],
  notes:
    "The readiness check of the daemon then fails with 503, so that proxies send it no requests, and it takes no cron jobs. It still serves the requests that it receives.\n" +
    "The command waits until the daemon has no request in flight. Reads of the API, event streams and WebSockets do not count.\n" +
    "If the time limit is over, the command exits with 1. The daemon stays drained, and interrupts no request.\n" +
    "The drain ends with --undo, and with the next start of the daemon.",
  async run(context, [instance], { undo = false, drainTimeout = defaultTimeout }) {
    const timeoutMs = parseDurationMs(drainTimeout);
    if (timeoutMs === undefined) throw usageError(`--drain-timeout: ${drainTimeout} is not a duration such as 500ms, 30s or 5m`);
    const { client } = await connect(context, { instances: { drain, list, undrain } });
    const { data } = await client.instances[undo ? "undrain" : "drain"]({ params: { instance } });
    context.output.note(undo ? `${data.name} reports that it is ready` : `${data.name} reports that it is not ready, and still serves`);
    if (!undo) context.output.undo(`runtimectl instances drain ${data.id} --undo`);
    if (undo || timeoutMs === 0) return context.output.result(data);
    const find = async () => (await client.instances.list()).find(({ id }) => id === data.id);
    await waitUntilDrained(context, { ...data, timeoutMs, find });
    context.output.note(`${data.name} has no request in flight`);
    context.output.result({ ...data, requestsInFlight: 0 });
  },
});
