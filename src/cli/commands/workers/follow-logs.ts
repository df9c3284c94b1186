import type { ClientOf } from "../../../shared/client.js";
import type { LogEntry, logs } from "../../../shared/contract/worker-logs.js";
import { streamWithReconnect, type StreamReader } from "../../client/reconnecting-stream.js";

type LogsClient = ClientOf<{ workers: { logs: typeof logs } }>;
type LogsInput = Parameters<LogsClient["workers"]["logs"]["follow"]>[0];

/** The callbacks for the entries of a log stream, and the signal that ends the stream. */
export type LogReader = StreamReader<LogEntry>;

/**
 * Streams log entries until the signal aborts. After a lost connection or a restart of the daemon, the stream continues after the last
 * received entry.
 */
export async function followLogs(
  reader: LogReader,
  client: LogsClient,
  { input, onOpen }: { readonly input: LogsInput; readonly onOpen?: () => void },
): Promise<void> {
  await streamWithReconnect(reader, (options) => client.workers.logs.follow(input, options), { onOpen });
}
