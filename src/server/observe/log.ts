import pino, { type Logger } from "pino";

export type Log = Logger;

/** Header and field names whose values are secrets. */
const secretFields = ["key", "rootKey", "cookie", "authorization", "token", '*["x-api-key"]', "*.authorization", "*.cookie", "*.key"];

/** What waits while stdout takes nothing, a file on a full disk for one; what goes past it is lost. */
const mostWaitingBytes = 1024 * 1024;

/** What turns a line of JSON into what people read. */
export type LineForm = (line: string) => string;

/** JSON lines on stdout, or those in a form. `level` is one of pino's; `onChild` hears of each log that is made of this one. */
export function createLog({ level, form, onChild }: { level: string; form?: LineForm | undefined; onChild?: (child: Log) => void }): Log {
  const output = stdout();
  return pino(
    {
      level,
      serializers: { err: errorFields },
      ...(onChild && { onChild }),
      redact: { paths: secretFields, censor: "[secret]" },
    },
    form ? { write: (line) => output.write(form(line)) } : output,
  );
}

/** For terminals. */
export async function readableForm(): Promise<LineForm> {
  const { default: pretty } = await import("pino-pretty");
  return pretty.prettyFactory({ ignore: "pid,hostname", translateTime: "SYS:HH:MM:ss" });
}

/** A log that cannot be written must not end what it tells of; the next line tries again, with those that wait. */
function stdout(): { write(text: string): void } {
  const destination = pino.destination({ dest: 1, sync: true, maxLength: mostWaitingBytes });
  destination.on("error", () => undefined);
  return destination;
}

/** What plugins throw may throw when it is looked at: that must not be the end of whoever logs it. */
function errorFields(error: unknown): unknown {
  try {
    return pino.stdSerializers.err(error as Error);
  } catch {
    return { type: "unknown", message: "An error that cannot be shown." };
  }
}
