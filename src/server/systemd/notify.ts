import { spawn } from "node:child_process";
import type { Log } from "../log/log.js";
import { findSystemTool } from "../platform/system-tool.js";

const addressFamilyUnix = 1;
const typeDatagram = 2;
const closeOnExec = 0o2_000_000;
/** Do not wait for a blocked reader, and send no SIGPIPE for a closed one. */
const sendFlags = 0x40 | 0x4000;
/** Size of `sun_path` in Linux's `sockaddr_un`. */
const longestPathBytes = 108;

/** Notifies the service manager, in the terms of sd_notify(3). */
export class ServiceManager {
  readonly #send: NotifyChannel;

  constructor(send: NotifyChannel) {
    this.#send = send;
  }

  /** The daemon serves; `systemctl status` shows `status`. */
  ready(status: string): void {
    this.#send(`READY=1\n${statusLine(status)}`);
  }

  /** The daemon reloads its configuration; `ready` ends that. */
  reloading(): void {
    // Node's clock is the kernel's CLOCK_MONOTONIC, by which the manager orders notifications.
    this.#send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}\n${statusLine("reloading")}`);
  }

  stopping(): void {
    this.#send(`STOPPING=1\n${statusLine("finishing what is in flight")}`);
  }

  /** Notifies systemd's watchdog. `status`: the status text. */
  alive(status: string): void {
    this.#send(`WATCHDOG=1\n${statusLine(status)}`);
  }
}

/** Returns the status on one line, because a line break would end the value. */
function statusLine(status: string): string {
  return `STATUS=${status.replaceAll(/\s+/g, " ")}`;
}

/** Sends one notification to the service manager: lines of `NAME=value`. Never throws; a lost notification is logged. */
type NotifyChannel = (note: string) => void;

/**
 * Opens the channel to the service manager at `address`. Node has no Unix datagram sockets: uses koffi, which is optional, otherwise the
 * program `systemd-notify`. Without both, drops notifications and logs that once.
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

/** Sends one after the other, so that they arrive in order. */
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

/** Sends one datagram. Returns the error, if any. */
type DatagramSender = (text: string) => string | undefined;

/**
 * Creates a sender to a Unix datagram socket: a path, or `@` and an abstract name. Throws without koffi and for an invalid address. The
 * flags are those of Linux.
 */
async function openDatagramSender(address: string): Promise<DatagramSender> {
  const target = socketAddress(address);
  const { default: koffi } = await import("koffi");
  // The program itself, which has loaded the C library under its name on this system.
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

/**
 * Returns a `sockaddr_un` in the machine's byte order. An abstract name begins with a zero byte and has exactly the length of the address.
 */
function socketAddress(address: string): Buffer {
  if (!address.startsWith("/") && !address.startsWith("@"))
    throw new Error(`the address ${JSON.stringify(address)} is neither a path nor an abstract name`);
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`, "utf8");
  if (path.length > longestPathBytes) throw new Error("the address is longer than a socket's may be");
  const family = Buffer.from(Uint16Array.of(addressFamilyUnix).buffer);
  return Buffer.concat([family, path]);
}
