import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Variables } from "../config/user-directories.js";
import type { ServiceMode } from "./service-mode.js";

/** Path that exists only if systemd is the init system of the machine. The function sd_booted(3) of systemd checks the same path. */
const bootedMark = "/run/systemd/system";
/**
 * Time limit for systemctl. A start of the service can take 300 s (TimeoutStartSec of the unit), because systemctl waits until the daemon
 * is ready.
 */
const systemctlTimeoutMs = 330_000;

/** Runs systemctl for the service manager of the system or of the user. */
export class Systemctl {
  readonly #mode: ServiceMode;
  readonly #variables: Variables;

  constructor(mode: ServiceMode, variables: Variables) {
    this.#mode = mode;
    this.#variables = variables;
  }

  /** Returns the systemctl command line as text for the user. */
  describe(words: readonly string[]): string {
    return ["systemctl", ...this.#mode.systemctlFlags, ...words].join(" ");
  }

  /**
   * Runs systemctl and resolves with the text on stdout. Rejects with SYSTEMCTL_FAILED, or with NO_SYSTEMD if the program systemctl does
   * not exist.
   */
  run(words: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { timeout: systemctlTimeoutMs, env: this.#variables };
      execFile("systemctl", [...this.#mode.systemctlFlags, ...words], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (error.code === "ENOENT") return reject(noSystemd("systemctl does not exist"));
        const said = stderr
          .trim()
          .split("\n")
          .filter((line) => line !== "");
        const failure = new CommandError("SYSTEMCTL_FAILED", `${this.describe(words)} failed`, {
          exitCode: exitCodes.failed,
          hint: `journalctl ${this.#mode.name === "user" ? "--user " : ""}-u runtimed -n 50`,
          details: said.length > 0 ? said : [error.message],
          cause: error,
        });
        reject(failure);
      });
    });
  }

  /** Returns the properties of a unit by name. Omits properties that this version of systemd does not have. */
  async properties(unit: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const text = await this.run(["show", unit, `--property=${names.join(",")}`]);
    return Object.fromEntries(text.split("\n").flatMap((line) => (/^([^=]+)=(.*)$/.exec(line) ? [line.split(/=(.*)/s).slice(0, 2)] : [])));
  }
}

/** Throws NO_SYSTEMD if systemd is not the init system of this machine. */
export function assertSystemd(): void {
  if (!existsSync(bootedMark)) throw noSystemd(`${bootedMark} does not exist`);
}

function noSystemd(reason: string): CommandError {
  return new CommandError("NO_SYSTEMD", `this machine does not run systemd (${reason}); nothing changed`, {
    exitCode: exitCodes.failed,
    hint: "start runtimed with another supervisor, such as a container runtime; see: runtimed --help",
  });
}
