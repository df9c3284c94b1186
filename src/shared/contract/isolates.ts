import * as z from "zod";
import { endpoint } from "./endpoint.js";
import { Timestamp } from "./principal.js";
import { successOf } from "./success.js";

const Count = z.int().min(0);

const isolateStates = ["starting", "running", "draining"] as const;

/** One process that runs a version of a worker. */
export const Isolate = z.object({
  pid: z.int().min(1).describe("Process id on the machine of the daemon"),
  worker: z.string(),
  version: z.string(),
  state: z.enum(isolateStates).describe("draining: completes its requests, then ends"),
  startedAt: Timestamp.describe("Unix time in seconds when the isolate loaded the worker"),
  requests: Count.describe("Requests since the start, including those in flight"),
  inFlight: Count,
  rssBytes: z.number().min(0),
  pssBytes: z.number().min(0).nullable().describe("null if the system does not provide it"),
  cpuSeconds: z.number().min(0),
  sockets: Count.describe("Open WebSocket connections"),
});
export type Isolate = z.output<typeof Isolate>;

const IsolateParams = z.object({
  pid: z
    .string()
    .regex(/^[1-9]\d{0,9}$/, "must be a positive whole number")
    .transform(Number),
});

export const list = endpoint({
  method: "GET",
  path: "/isolates",
  summary: "List the processes of workers; a restricted key sees those of its namespaces only",
  access: "workers:read",
  query: z.object({ worker: z.string().max(214).optional().describe("Only isolates of the worker with this name") }),
  status: 200,
  result: z.array(Isolate),
});

export const stop = endpoint({
  method: "POST",
  path: "/isolates/:pid/stop",
  summary: "Drain an isolate: it completes its requests and ends; later requests start a new one",
  change: "worker.isolate-stopped",
  access: "workers:restart",
  params: IsolateParams,
  status: 200,
  result: successOf(z.object({ pid: z.int().min(1), worker: z.string(), version: z.string(), state: z.enum(isolateStates) })),
  errors: ["ISOLATE_NOT_FOUND"],
});
