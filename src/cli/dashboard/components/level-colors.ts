import type { LogLevel } from "../../../shared/contract/worker-logs.js";

/** What is usual has the terminal's own colour. */
export const levelColors: Readonly<Partial<Record<LogLevel, string>>> = { warn: "yellow", error: "red" };
