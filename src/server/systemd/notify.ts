import { spawn } from "node:child_process";
import type { Log } from "../log/log.js";
import { findSystemTool } from "../platform/system-tool.js";

const addressFamilyUnix = 1;
const typeDatagram = 2;
const closeOnExec = 0o2_000_000;
/** Flags for sendto(2). With MSG_DONTWAIT, the call returns an error instead of waiting for the reader. MSG_NOSIGNAL prevents SIGPIPE. */
const sendFlags = 0x40 | 0x4000;
/** Size of the field `sun_path` in Linux's `sockaddr_un`. */
const longestPathBytes = 108;

/** Sends notifications to systemd, the service manager, as described in sd_notify(3). */
export class ServiceManager {
  readonly #send: NotifyChannel;

  constructor(send: NotifyChannel) {
    this.#send = send;
  }

  /** Reports that the daemon serves requests. `systemctl status` shows the text `status`. */
  ready(status: string): void {
    this.#send(`READY=1\n${statusLine(status)}`);
  }

  /** Reports that the daemon reloads its configuration. The next call of `ready` ends the reload. */
  reloading(): void {
    // Sends the time of CLOCK_MONOTONIC, by which systemd orders notifications. In Node.js, this is `process.hrtime`.
    this.#send(`RELOADING=1\nMONOTONIC_USEC=${process.hrtime.bigint() / 1000n}\n${statusLine("reloading")}`);
  }

  stopping(): void {
    this.#send(`STOPPING=1\n${statusLine("finishing what is in flight")}`);
  }

  /** Notifies the watchdog of systemd that the daemon works. `systemctl status` shows the text `status`. */
  alive(status: string): void {
    this.#send(`WATCHDOG=1\n${statusLine(status)}`);
  }
}

/** Returns the status field of a notification on one line, because a line break ends the field. */
function statusLine(status: string): string {
  return `STATUS=${status.replaceAll(/\s+/g, " ")}`;
}

/** Sends one notification with lines of the form `NAME=value` to systemd. Never throws. If the notification cannot be sent, logs this. */
type NotifyChannel = (note: string) => void;

/**
 * Opens the channel to systemd at `address`. Node.js has no Unix datagram sockets, so the channel uses the optional package koffi or the
 * program `systemd-notify`. Without both, it drops all notifications and logs this once.
 */
export async function openNotifyChannel(address: string | undefined, log: Log): Promise<NotifyChannel> {
  if (address === undefined) return () => undefined;
  const onLost = (reason: string) => log.error({ reason }, "a notification could not be sent to systemd");
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
        "systemd expects notifications, but the daemon cannot send any: install the optional package koffi or the program systemd-notify, or set Type=exec and WatchdogSec=0",
      );
      return () => undefined;
    }
    log.warn({ err: error }, "koffi cannot be used, so the daemon notifies systemd with systemd-notify: set NotifyAccess=all");
    return throughProgram(program, address, onLost);
  }
}

/** Returns a channel that runs `systemd-notify`. Only one process runs at a time, so that notifications arrive in order. */
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

/** Sends one datagram. Returns an error text, or undefined after success. */
type DatagramSender = (text: string) => string | undefined;

/**
 * Creates a sender to a Unix datagram socket on Linux. The address is a path, or `@` and an abstract name. Throws without koffi and for an
 * invalid address.
 */
async function openDatagramSender(address: string): Promise<DatagramSender> {
  const target = socketAddress(address);
  const { default: koffi } = await import("koffi");
  // Uses the running program, which contains the C library. The file name of the C library differs between systems.
  const program = koffi.load(null);
  const socket = program.func("int socket(int domain, int type, int protocol)");
  const sendTo = program.func(
    "long sendto(int fd, const void *data, size_t length, int flags, const void *address, uint32_t addressLength)",
  );
  const descriptor = socket(addressFamilyUnix, typeDatagram | closeOnExec, 0) as number;
  if (descriptor < 0) throw new Error(`no datagram socket could be created (errno ${koffi.errno()})`);
  return (text) => {
    const data = Buffer.from(text, "utf8");
    const sent = Number(sendTo(descriptor, data, data.length, sendFlags, target, target.length));
    return sent === data.length ? undefined : `errno ${koffi.errno()}`;
  };
}

/** Returns a `sockaddr_un` in the byte order of the machine. An abstract name has a zero byte before it, but none after it. */
function socketAddress(address: string): Buffer {
  if (!address.startsWith("/") && !address.startsWith("@"))
    throw new Error(`the address ${JSON.stringify(address)} is neither a path nor an abstract name`);
  const path = Buffer.from(address.startsWith("@") ? `\0${address.slice(1)}` : `${address}\0`, "utf8");
  if (path.length > longestPathBytes) throw new Error("the address is too long for a Unix socket");
  const family = Buffer.from(Uint16Array.of(addressFamilyUnix).buffer);
  return Buffer.concat([family, path]);
}
