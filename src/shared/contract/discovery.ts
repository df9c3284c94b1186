import * as z from "zod/mini";
import { endpoint } from "./endpoint.js";

export const Discovery = z.object({
  name: z.literal("runtimed"),
  api: z.string().check(z.describe("Base path of the API")),
  version: z.string(),
  cpanel: z.string().check(z.describe("Path of the control panel")),
  docs: z.string().check(z.describe("Path of the documentation page")),
  instance: z.optional(z.string().check(z.describe("Random id of the daemon, if it shares a primary with others"))),
  proof: z.optional(
    z.string().check(z.describe("HMAC-SHA-256 as base64url that only a daemon with the same primary can create; only with `challenge`")),
  ),
  apps: z.optional(z.string().check(z.describe("Base URL of the workers without a trailing slash, if the operator has configured it"))),
});
export type Discovery = z.output<typeof Discovery>;

export const runtime = endpoint({
  method: "GET",
  path: "/.well-known/runtime",
  atOrigin: true,
  summary: "Return the path of the API",
  access: "public",
  query: z.object({
    challenge: z.optional(
      z.string().check(z.maxLength(64), z.describe("Random text of another daemon with the same primary, which then receives `proof`")),
    ),
  }),
  status: 200,
  result: Discovery,
});
