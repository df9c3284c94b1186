import { nounOf } from "../../shared/contract/changes.js";
import { eventTypes, stream, type RuntimeEvent } from "../../shared/contract/events.js";
import { changeDocument, changeLine, eventCells } from "../output/change-line.js";
import { defineCommand } from "../command/command.js";
import { usageError } from "../command/command-error.js";
import { connect } from "../client/connection.js";
import { followUntilInterrupted } from "../client/reconnecting-stream.js";
import { localDateTime } from "./workers/log-line.js";
import { timeOption } from "../command/time-option.js";

interface Options {
  readonly since?: string;
  readonly type?: string;
  readonly worker?: string;
}

export const command = defineCommand<[], Options>({
  options: [
    { flags: "--type <types>", description: "Such as worker.crashed, or key for all of keys; several between commas" },
    { flags: "--worker <name>", description: "What concerns this worker" },
    { flags: "--since <time>", description: "First those of the last 10m, 2h, or since a Unix time, as far as they are kept" },
  ],
  examples: [
    ["runtimectl events", "what happens from now on, until Ctrl-C"],
    ["runtimectl events --type worker.crashed,worker.start-failed", "workers in trouble"],
    ["runtimectl events --worker @team/app --json | jq .type", "a document a line"],
  ],
  notes:
    "Shows what the key may see: workers:read, plugins:read and keys:read each show their own. What was long ago is in: runtimectl audit.\n" +
    "Goes on when the connection is lost, and when the daemon restarts; stream.gap says where events may be missing.",
  async run(context, _values, options) {
    const query = queryOf(options);
    const { client } = await connect(context, { events: { stream } });
    const { output } = context;
    const show = (event: RuntimeEvent) => {
      if (event.type === "stream.opened") return;
      const time = output.isAligned ? localDateTime(new Date(event.at)) : new Date(event.at).toISOString();
      output.line(changeDocument(event), changeLine(eventCells(event, time), output.isAligned));
    };
    return followUntilInterrupted(context, show, (from) => client.events.stream.follow({ query }, from));
  },
});

function queryOf({ since, type, worker }: Options) {
  const known = new Set<string>(eventTypes.flatMap((one) => [one, nounOf(one)]));
  const unknown = type?.split(",").find((one) => !known.has(one));
  if (unknown !== undefined) throw usageError(`--type ${JSON.stringify(unknown)} is none`, `one of ${[...known].join(", ")}`);
  return { since: timeOption("--since", since), type, worker: worker === "" ? undefined : worker };
}
