import * as z from "zod/mini";
import { endpoint } from "./endpoint.js";

export const Discovery = z.object({
  name: z.literal("runtimed"),
  api: z.string().check(z.describe("The API base path in effect")),
  version: z.string(),
  cpanel: z.string().check(z.describe("Path of the control panel")),
  docs: z.string().check(z.describe("Path of the documentation page")),
  apps: z.optional(z.string().check(z.describe("Where workers answer, without a slash at its end, when the operator has named it"))),
});
export type Discovery = z.output<typeof Discovery>;

export const runtime = endpoint({
  method: "GET",
  path: "/.well-known/runtime",
  atOrigin: true,
  summary: "Say where the API is",
  access: "public",
  status: 200,
  result: Discovery,
});
