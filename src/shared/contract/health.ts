import * as z from "zod";
import { endpoint } from "./endpoint.js";

const health = <const Status extends string>(status: Status) =>
  z.object({ ok: z.boolean(), status: z.literal(status), version: z.string() });

export const overall = endpoint({
  method: "GET",
  path: "/health",
  summary: "Say whether the daemon is healthy",
  access: "public",
  status: 200,
  result: health("healthy"),
  errors: ["NOT_READY"],
});

export const ready = endpoint({
  method: "GET",
  path: "/health/ready",
  summary: "Say whether the daemon can take requests",
  access: "public",
  status: 200,
  result: health("ready"),
  errors: ["NOT_READY"],
});

export const live = endpoint({
  method: "GET",
  path: "/health/live",
  summary: "Say that the process is alive, without touching the disk",
  access: "public",
  status: 200,
  result: health("live"),
});
