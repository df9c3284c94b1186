import { spawn } from "node:child_process";
import type { Log } from "../log/log.js";
import { findSystemTool } from "../platform/system-tool.js";
import { openDatagramSender } from "./datagram-sender.js";

/** Sends one note to the service manager: lines of `NAME=value`. Never throws: a note that is lost is logged. */
export type NotifyChannel = (note: string) => void;

/**
 * The way to the service manager that listens at `address`. Node has no datagram sockets of the Unix kind: they come from koffi, which
 * is optional; else the program `systemd-notify` is started for each note. With neither, notes are dropped, and the log says so once.
 */
export async function openNotifyChannel(address: string | undefined, log: Log): Promise<NotifyChannel> {
  if (address === undefined) return () => undefined;
  const onLost = (reason: string) => log.error({ reason }, "the service manager could not be told");
  try {
    const send = await openDatagramSender(address);
    return (note) => {
      const problem = send(note);
      if (problem !== undefined) onLost(problem);
    };
  } catch (error) {
    const program = findSystemTool("systemd-notify");
    if (program === undefined) {
      log.error(
        { err: error },
        "the service manager waits for notes, and there is no way to send any: install the optional package koffi or the program systemd-notify, or set Type=exec and WatchdogSec=0",
      );
      return () => undefined;
    }
    log.warn({ err: error }, "notes to the service manager are sent by systemd-notify, which needs NotifyAccess=all: koffi cannot be used");
    return throughProgram(program, address, onLost);
  }
}

/** One after the other, so that they arrive in the order in which they were sent. */
function throughProgram(program: string, address: string, onLost: (reason: string) => void): NotifyChannel {
  let last = Promise.resolve();
  const run = (note: string) =>
    new Promise<void>((resolve) => {
      const child = spawn(program, note.split("\n"), { env: { NOTIFY_SOCKET: address }, stdio: "ignore" });
      child.once("error", (error) => {
        onLost(error.message);
        resolve();
      });
      child.once("exit", (status) => {
        if (status !== 0) onLost(`systemd-notify ended with ${status}`);
        resolve();
      });
    });
  return (note) => void (last = last.then(() => run(note)));
}
