import type { ClientOf } from "../../../shared/client.js";
import type { LogEntry, logs } from "../../../shared/contract/worker-logs.js";
import { streamWithReconnect, type StreamReader } from "../../client/reconnecting-stream.js";

type LogsClient = ClientOf<{ workers: { logs: typeof logs } }>;
type LogsInput = Parameters<LogsClient["workers"]["logs"]["follow"]>[0];

/** Who follows a worker's log, and until when. */
export type LogReader = StreamReader<LogEntry>;

/** Shows entries as they come until the signal aborts. Goes on by the last one when the connection is lost, or the daemon restarts. */
export async function followLogs(
  reader: LogReader,
  client: LogsClient,
  { input, onOpen }: { readonly input: LogsInput; readonly onOpen?: () => void },
): Promise<void> {
  await streamWithReconnect(reader, (options) => client.workers.logs.follow(input, options), { onOpen });
}
