import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { instanceQuery } from "./instances.js";
import { Timestamp } from "./principal.js";
import { successOf } from "./success.js";
import { WorkerCronParams } from "./worker-params.js";

/** Maximum number of runs of a job in a list. */
export const listedRuns = 50;

/** A run of a cron job that has ended, or that the daemon has skipped. */
export const CronRun = z.object({
  at: Timestamp.describe("Unix time in seconds when the run started or was skipped"),
  durationMs: z.int().min(0).nullable().describe("null for a skipped or unknown run, and for a run that ended with the daemon"),
  status: z
    .int()
    .nullable()
    .describe("Status of the response; null for a skipped or unknown run, and for a run that ended with the daemon"),
  outcome: z
    .enum(["ok", "failed", "skipped", "unknown"])
    .describe(
      "failed: a status of 400 or more, or no complete response; skipped: the previous run had not ended, or no daemon ran it; unknown: its daemon stopped, so the worker was called once or not at all",
    ),
  error: z.string().optional().describe("Reason of a failed or skipped run, as a sentence"),
  trigger: z.enum(["schedule", "manual"]),
  by: z.string().optional().describe("Name of the key that started a manual run"),
  version: z.string().optional().describe("Version of the worker that ran"),
  instance: z
    .string()
    .optional()
    .describe("Name of the daemon that ran the job, or that recorded the run as skipped; only with several daemons"),
});
export type CronRun = z.output<typeof CronRun>;

export const CronJob = z.object({
  worker: z.string(),
  version: z.string().describe("The active version, whose manifest declares the job"),
  index: z.int().min(0).describe("Position of the job in `cron` of the manifest, from 0"),
  schedule: z.string(),
  method: z.string(),
  endpoint: z.string(),
  on: z.enum(["one", "every"]).describe("one: each time on one of several daemons; every: on each daemon"),
  nextRun: Timestamp.nullable().describe("Unix time in seconds; null if the schedule matches no later time"),
  isRunning: z.boolean().describe("True if the job runs on one of the daemons"),
  lastRun: CronRun.nullable().describe("The last run that ended and was not skipped; null before"),
  runs: z.array(CronRun).optional().describe(`The last ${listedRuns} runs, newest first; only with \`worker\``),
  problem: z.string().optional().describe("Reason why the runs of other daemons are missing, as a sentence"),
});
export type CronJob = z.output<typeof CronJob>;

export const list = endpoint({
  method: "GET",
  path: "/cron",
  summary: "List the cron jobs of active versions; a restricted key sees those of its namespaces only",
  access: "workers:read",
  asksInstances: true,
  query: z.object({
    ...instanceQuery,
    worker: z.string().max(214).optional().describe("Only jobs of the worker with this name, with their last runs"),
  }),
  status: 200,
  result: z.array(CronJob),
  errors: ["INSTANCE_NOT_FOUND", "INSTANCE_UNAVAILABLE"],
});

export const run = endpoint({
  method: "POST",
  path: "/workers/:scope/:name/cron/:index/run",
  summary: "Run a cron job of the active version now; responds when the run has ended",
  change: "worker.cron-run",
  access: "workers:restart",
  namespaced: true,
  params: WorkerCronParams,
  inputErrors: { name: "INVALID_PACKAGE_NAME" },
  status: 200,
  result: successOf(CronRun),
  errors: ["WORKER_NOT_FOUND", "CRON_JOB_NOT_FOUND", "CRON_JOB_RUNNING"],
});
