import * as z from "zod";
import { endpoint } from "./endpoint.js";

export const openapi = endpoint({
  method: "GET",
  path: "/openapi.json",
  summary: "Return this API as an OpenAPI 3.1 document",
  access: "public",
  status: 200,
  result: z.record(z.string(), z.unknown()),
});

export const page = endpoint({
  method: "GET",
  path: "/docs",
  summary: "Show the interactive documentation",
  access: "public",
  status: 200,
  contentType: "text/html; charset=utf-8",
});
