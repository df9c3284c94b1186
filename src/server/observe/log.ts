import pino, { type Logger } from "pino";

export type Log = Logger;

/** Header and field names whose values are secrets. */
const secretFields = ["key", "rootKey", "cookie", "authorization", "token", '*["x-api-key"]', "*.authorization", "*.cookie", "*.key"];

/** JSON lines on stdout; on a terminal a readable form. `level` is one of pino's; `onChild` hears of each log that is made of this one. */
export function createLog(options: { level: string; pretty: boolean; onChild?: (child: Log) => void }): Log {
  const transport = options.pretty
    ? { transport: { target: "pino-pretty", options: { ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" } } }
    : {};
  return pino({
    level: options.level,
    serializers: { err: errorFields },
    ...(options.onChild && { onChild: options.onChild }),
    redact: { paths: secretFields, censor: "[secret]" },
    ...transport,
  });
}

/** What plugins throw may throw when it is looked at: that must not be the end of whoever logs it. */
function errorFields(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: "unknown", message: "An error that cannot be shown." };
  }
}
