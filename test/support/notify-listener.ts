import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { onTestFinished } from "vitest";

const program = fileURLToPath(new URL("notify-listener.mjs", import.meta.url));

/** Notifications of a service to its manager. */
export interface NotifyListener {
  readonly notes: readonly string[];
  /** Returns the notifications in which a line starts with this text. */
  readonly withLine: (start: string) => string[];
}

/** Listens at a Unix datagram address, like systemd, until the running test ends. */
export async function listenForNotes(address: string): Promise<NotifyListener> {
  const child = spawn(process.execPath, [program, address], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const lines = createInterface({ input: child.stdout });
  const failed = once(child, "exit").then(() => Promise.reject(new Error(`nothing can listen at ${address}`)));
  failed.catch(() => undefined);
  await Promise.race([once(lines, "line"), failed]);
  const notes: string[] = [];
  lines.on("line", (line) => notes.push(JSON.parse(line) as string));
  return { notes, withLine: (start) => notes.filter((note) => note.split("\n").some((line) => line.startsWith(start))) };
}
