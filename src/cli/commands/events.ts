import { nounOf } from "../../shared/contract/changes.js";
import { eventTypes, stream, type RuntimeEvent } from "../../shared/contract/events.js";
import { changeDocument, changeLine, eventCells } from "../output/change-line.js";
import { defineCommand } from "../command/command.js";
import { usageError } from "../command/command-error.js";
import { connect } from "../client/connection.js";
import { followUntilInterrupted } from "../client/reconnecting-stream.js";
import { localDateTime } from "./workers/log-line.js";
import { hasSeveralInstances, instanceOption } from "../command/instance-option.js";
import { timeOption } from "../command/time-option.js";

interface Options {
  readonly since?: string;
  readonly type?: string;
  readonly worker?: string;
  readonly instance?: string;
}

export const command = defineCommand<[], Options>({
  options: [
    { flags: "--type <types>", description: "Only these types, separated by commas, such as worker.crashed, or key for all key events" },
    { flags: "--worker <name>", description: "Only events of this worker" },
    { flags: "--since <time>", description: "Start with stored events after this time: 10m, 2h, or a Unix time" },
    instanceOption,
  ],
  examples: [
    ["runtimectl events", "stream new events until Ctrl-C"],
    ["runtimectl events --type worker.crashed,worker.start-failed", "crashes and failed starts"],
    ["runtimectl events --worker @team/app --json | jq .type", "one JSON document per line"],
  ],
  notes:
    "Events of workers, plugins and keys require workers:read, plugins:read and keys:read. For older changes, use runtimectl audit.\n" +
    "The stream reconnects after a lost connection or a daemon restart. The event stream.gap marks possibly missing events.\n" +
    "With several daemons, the last column in a pipe is the name of the daemon.",
  async run(context, _values, options) {
    const query = queryOf(options);
    const { client } = await connect(context, { events: { stream } });
    const { output } = context;
    const isShared = hasSeveralInstances(options.instance);
    const show = (event: RuntimeEvent) => {
      if (event.type === "stream.opened") return;
      const time = output.isAligned ? localDateTime(new Date(event.at)) : new Date(event.at).toISOString();
      const cells = [...eventCells(event, time), ...(isShared && event.instance !== undefined ? [event.instance] : [])];
      output.line(changeDocument(event), changeLine(cells, output.isAligned));
    };
    return followUntilInterrupted(context, show, (from) => client.events.stream.follow({ query }, from));
  },
});

function queryOf({ since, type, worker, instance }: Options) {
  const known = new Set<string>(eventTypes.flatMap((one) => [one, nounOf(one)]));
  const unknown = type?.split(",").find((one) => !known.has(one));
  if (unknown !== undefined) throw usageError(`--type ${JSON.stringify(unknown)} is not an event type`, `use ${[...known].join(", ")}`);
  return {
    since: timeOption("--since", since),
    type,
    worker: worker === "" ? undefined : worker,
    instance: instance === "" ? undefined : instance,
  };
}
