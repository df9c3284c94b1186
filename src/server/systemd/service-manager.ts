import type { NotifyChannel } from "./notify-channel.js";

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
