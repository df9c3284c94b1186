import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";
import type { Variables } from "../config/user-directories.js";
import type { ServiceMode } from "./service-mode.js";

/** Made by systemd where it runs the machine; sd_booted(3) looks for nothing else. */
const bootedMark = "/run/systemd/system";
/** A start waits until the daemon serves; the unit gives it 300 s. */
const systemctlTimeoutMs = 330_000;

/** The service manager, as far as a service's own commands need it. */
export class Systemctl {
  readonly #mode: ServiceMode;
  readonly #variables: Variables;

  constructor(mode: ServiceMode, variables: Variables) {
    this.#mode = mode;
    this.#variables = variables;
  }

  /** Words to show for a call. */
  describe(words: readonly string[]): string {
    return ["systemctl", ...this.#mode.systemctlFlags, ...words].join(" ");
  }

  /** Resolves with what it says on stdout; rejects with SYSTEMCTL_FAILED. */
  run(words: readonly string[]): Promise<string> {
    return new Promise((resolve, reject) => {
      const options = { timeout: systemctlTimeoutMs, env: this.#variables };
      execFile("systemctl", [...this.#mode.systemctlFlags, ...words], options, (error, stdout, stderr) => {
        if (error === null) return resolve(stdout);
        if (error.code === "ENOENT") return reject(noSystemd("there is no systemctl"));
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

  /** Properties of a unit by name; those that it does not have are missing. */
  async properties(unit: string, names: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const text = await this.run(["show", unit, `--property=${names.join(",")}`]);
    return Object.fromEntries(text.split("\n").flatMap((line) => (/^([^=]+)=(.*)$/.exec(line) ? [line.split(/=(.*)/s).slice(0, 2)] : [])));
  }
}

/** Refuses to go on where systemd does not run the machine. */
export function assertSystemd(): void {
  if (!existsSync(bootedMark)) throw noSystemd(`${bootedMark} is not there`);
}

function noSystemd(reason: string): CommandError {
  return new CommandError("NO_SYSTEMD", `systemd does not run this machine (${reason}); nothing was changed`, {
    exitCode: exitCodes.failed,
    hint: "start runtimed with what your machine has instead, such as a container's own restarts; see: runtimed --help",
  });
}
