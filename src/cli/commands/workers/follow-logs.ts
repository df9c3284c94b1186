import type { ClientOf } from "../../../shared/client.js";
import type { LogEntry, logs } from "../../../shared/contract/worker-logs.js";
import { streamWithReconnect, type StreamReader } from "../../client/reconnecting-stream.js";

type LogsClient = ClientOf<{ workers: { logs: typeof logs } }>;
type LogsInput = Parameters<LogsClient["workers"]["logs"]["follow"]>[0];

/** The callbacks of a log stream and the signal that ends it. */
export type LogReader = StreamReader<LogEntry>;

/** Streams log entries until the signal aborts. After a lost connection or a daemon restart, resumes after the last entry. */
export async function followLogs(
  reader: LogReader,
  client: LogsClient,
  { input, onOpen }: { readonly input: LogsInput; readonly onOpen?: () => void },
): Promise<void> {
  await streamWithReconnect(reader, (options) => client.workers.logs.follow(input, options), { onOpen });
}
