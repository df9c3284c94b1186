import type { LogLevel } from "../../../shared/contract/worker-logs.js";
import type { Log } from "../../log/log.js";
import { OutputLimiter } from "../protocol/output-limiter.js";
import type { WorkerLogs } from "./worker-logs.js";

/** Where one version of a worker writes: its log, and the daemon's, where its users do not look. */
export class WorkerOutput {
  readonly #options: { logs: WorkerLogs; log: Log; name: string; version: string };
  readonly #budget = new OutputLimiter((count) => this.#write("warn", "runtime", `${count} more notices of the runtime were dropped.`));

  /** `log` is a child that names worker and version. */
  constructor(options: { logs: WorkerLogs; log: Log; name: string; version: string }) {
    this.#options = options;
  }

  /** What the app wrote or threw; whoever calls has a limit for how much that is. An app's error is none of the daemon's. */
  app(level: LogLevel, text: string): void {
    this.#write(level, "app", text);
    this.#options.log[level === "debug" ? "debug" : "info"]({ source: "app", appLevel: level }, text);
  }

  /** What the runtime has to say about the app: started, killed, left alone for a while. `facts` are for the daemon's log only. */
  runtime(level: LogLevel, text: string, facts: Readonly<Record<string, unknown>> = {}): void {
    if (!this.#budget.admits(text.length)) return;
    this.#write(level, "runtime", text);
    this.#options.log[level === "error" ? "warn" : level]({ source: "runtime", ...facts }, text);
  }

  #write(level: LogLevel, source: "app" | "runtime", text: string): void {
    const { logs, name, version } = this.#options;
    logs.write({ name, version, level, source, text });
  }
}
