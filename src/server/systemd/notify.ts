import { spawn } from "node:child_process";
import type { Log } from "../log/log.js";
import { findSystemTool } from "../platform/system-tool.js";

const addressFamilyUnix = 1;
const typeDatagram = 2;
const closeOnExec = 0o2_000_000;
/** Not waiting for a reader that is stuck, and no SIGPIPE for one that is gone. */
const sendFlags = 0x40 | 0x4000;
/** Of `sun_path` in Linux's `sockaddr_un`. */
const longestPathBytes = 108;

/** What the service manager hears of the daemon, in the words of sd_notify(3). */
export class ServiceManager {
  readonly #send: NotifyChannel;

  constructor(send: NotifyChannel) {
    this.#send = send;
  }

  /** It serves; `status` is shown by `systemctl status`. */
  ready(status: string): void {
    this.#send(`READY=1\n${statusLine(status)}`);
  }

  /** It reads again what may change; `ready` ends that. */
  reloading(): void {
    // Node's clock is the kernel's CLOCK_MONOTONIC, by which the manager tells this note from an older one.
    this.#send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}\n${statusLine("reloading")}`);
  }

  stopping(): void {
    this.#send(`STOPPING=1\n${statusLine("finishing what is in flight")}`);
  }

  /** It lives, and `status` is what it does. */
  alive(status: string): void {
    this.#send(`WATCHDOG=1\n${statusLine(status)}`);
  }
}

/** A note's values end with their line. */
function statusLine(status: string): string {
  return `STATUS=${status.replaceAll(/\s+/g, " ")}`;
}

/** Sends one note to the service manager: lines of `NAME=value`. Never throws: a note that is lost is logged. */
type NotifyChannel = (note: string) => void;

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

/** Sends one datagram; answers with what kept it from going out. */
type DatagramSender = (text: string) => string | undefined;

/**
 * A sender to a Unix datagram socket: a path, or `@` and an abstract name. Throws when koffi is not there or the address is none of
 * these. Flags are those of Linux, where there is a systemd.
 */
async function openDatagramSender(address: string): Promise<DatagramSender> {
  const target = socketAddress(address);
  const { default: koffi } = await import("koffi");
  // The program itself: it has loaded the C library, whatever that is called here.
  const program = koffi.load(null);
  const socket = program.func("int socket(int domain, int type, int protocol)");
  const sendTo = program.func(
    "long sendto(int fd, const void *data, size_t length, int flags, const void *address, uint32_t addressLength)",
  );
  const descriptor = socket(addressFamilyUnix, typeDatagram | closeOnExec, 0) as number;
  if (descriptor < 0) throw new Error(`no datagram socket could be made (errno ${koffi.errno()})`);
  return (text) => {
    const data = Buffer.from(text, "utf8");
    const sent = Number(sendTo(descriptor, data, data.length, sendFlags, target, target.length));
    return sent === data.length ? undefined : `errno ${koffi.errno()}`;
  };
}

/** A `sockaddr_un` in the machine's byte order; an abstract name begins with a zero and is exactly as long as the address. */
function socketAddress(address: string): Buffer {
  if (!address.startsWith("/") && !address.startsWith("@"))
    throw new Error(`the address ${JSON.stringify(address)} is neither a path nor an abstract name`);
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`, "utf8");
  if (path.length > longestPathBytes) throw new Error("the address is longer than a socket's may be");
  const family = Buffer.from(Uint16Array.of(addressFamilyUnix).buffer);
  return Buffer.concat([family, path]);
}
