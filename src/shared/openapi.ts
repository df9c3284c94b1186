import * as z from "zod";
import { operations } from "./contract/index.js";
import { errorCodesOf, permissionsFor, type EndpointDefinition } from "./contract/endpoint.js";
import { errorTable, type ErrorCode } from "./errors.js";

type Json = Record<string, unknown>;

/** Returns the OpenAPI 3.1 document of the API. `apiBase` is a path such as `/api`. */
export function createOpenApi({ apiBase, version }: { apiBase: string; version: string }): Json {
  const paths: Record<string, Json> = {};
  for (const { id, resource, endpoint } of operations) {
    const path = endpoint.path.replace(/:(\w+)/g, "{$1}");
    paths[path] ??= endpoint.atOrigin ? { servers: [{ url: "/" }] } : {};
    paths[path][endpoint.method.toLowerCase()] = toOperation(id, resource, endpoint);
  }
  return {
    openapi: "3.1.0",
    info: {
      title: "runtimed",
      version,
      summary: "Management API of a self-hosted runtime for small web services",
      license: { name: "MIT", identifier: "MIT" },
    },
    servers: [{ url: apiBase }],
    tags: [...new Set(operations.map(({ resource }) => resource))].map((name) => ({ name })),
    paths,
    components: { schemas: { Error: errorSchema }, securitySchemes },
  };
}

const securitySchemes = {
  apiKey: { type: "apiKey", in: "header", name: "X-API-Key" },
  bearer: { type: "http", scheme: "bearer" },
  session: { type: "apiKey", in: "cookie", name: "runtime_api_key" },
};

const errorSchema = {
  type: "object",
  required: ["error"],
  properties: {
    error: {
      type: "object",
      required: ["code", "message"],
      properties: { code: { type: "string" }, message: { type: "string" }, details: {} },
    },
  },
};

function toOperation(id: string, resource: string, endpoint: EndpointDefinition): Json {
  const needed = permissionsFor(endpoint).map((permission) => `\`${permission}\``);
  const body = requestBodyOf(endpoint);
  return {
    operationId: id,
    tags: [resource],
    summary: endpoint.summary,
    ...(needed.length === 0 ? {} : { description: `Requires the permission ${needed.join(" and ")}.` }),
    security: endpoint.access === "public" ? [] : [{ apiKey: [] }, { bearer: [] }, { session: [] }],
    parameters: [
      ...parametersOf("path", endpoint.params),
      ...parametersOf("query", endpoint.query),
      ...originParameterOf(endpoint),
      ...resumeParameterOf(endpoint),
    ],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: { [endpoint.status]: successOf(endpoint), ...errorResponsesOf(endpoint) },
  };
}

function parametersOf(place: "path" | "query", schema: z.core.$ZodObject | undefined): Json[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, "input") as { properties?: Record<string, Json>; required?: string[] };
  return Object.entries(properties).map(([name, property]) => ({
    name,
    in: place,
    required: place === "path" || required.includes(name),
    schema: property,
  }));
}

function originParameterOf(endpoint: EndpointDefinition): Json[] {
  if (endpoint.method === "GET") return [];
  const description = "Must match the host of the request. Browsers send it automatically. Not required with the root key in a header.";
  return [{ name: "Origin", in: "header", required: false, description, schema: { type: "string" } }];
}

function resumeParameterOf(endpoint: EndpointDefinition): Json[] {
  if (!endpoint.events) return [];
  const description = "Id of the last received event: the stream continues after it. Browsers send it automatically on reconnect.";
  return [{ name: "Last-Event-ID", in: "header", required: false, description, schema: { type: "string" } }];
}

function requestBodyOf(endpoint: EndpointDefinition): Json | undefined {
  if (endpoint.body) return { required: true, content: { "application/json": { schema: toJsonSchema(endpoint.body, "input") } } };
  const file = { type: "string", contentMediaType: "application/octet-stream" };
  if (endpoint.form) {
    const { properties = {}, required = [] } = toJsonSchema(endpoint.form.fields, "input") as { properties?: Json; required?: string[] };
    const { files } = endpoint.form;
    const schema = {
      type: "object",
      required: [...required, files],
      properties: { ...properties, [files]: { type: "array", items: file } },
    };
    return { required: true, content: { "multipart/form-data": { schema } } };
  }
  if (endpoint.upload === undefined) return undefined;
  return {
    required: true,
    content: {
      "multipart/form-data": { schema: { type: "object", required: [endpoint.upload], properties: { [endpoint.upload]: file } } },
    },
  };
}

function successOf(endpoint: EndpointDefinition): Json {
  const type = endpoint.contentType ?? (endpoint.result ? "application/json" : undefined);
  const events = endpoint.events ? { "text/event-stream": { schema: eventSchemaOf(endpoint.events) } } : {};
  if (endpoint.download !== undefined) return downloadOf(endpoint.download);
  const headers = { "X-Request-Id": { description: "Correlation id", schema: { type: "string" } } };
  if (type === undefined) return { description: "Done", headers, ...(endpoint.events ? { content: events } : {}) };
  const schema = endpoint.result ? toJsonSchema(endpoint.result, "output") : { type: "string" };
  return { description: "Done", headers, content: { [type.split(";")[0] ?? type]: { schema }, ...events } };
}

function downloadOf(description: string): Json {
  const headers = {
    "X-Request-Id": { description: "Correlation id", schema: { type: "string" } },
    "Content-Disposition": { description: "The file name", schema: { type: "string" } },
  };
  return { description, headers, content: { "application/octet-stream": { schema: { type: "string", format: "binary" } } } };
}

/** Returns the JSON schema of the `data` field of each server-sent event. */
function eventSchemaOf(schema: z.ZodType): Json {
  return { ...toJsonSchema(schema, "output"), description: "Server-sent events: the `data` of each is this object as JSON" };
}

function errorResponsesOf(endpoint: EndpointDefinition): Json {
  const byStatus = new Map<number, ErrorCode[]>();
  for (const code of errorCodesOf(endpoint)) {
    const [status] = errorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const content = { "application/json": { schema: { $ref: "#/components/schemas/Error" } } };
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [String(status), { description: codes.map(describeCode).join("\n\n"), content }]),
  );
}

function describeCode(code: ErrorCode): string {
  return `\`${code}\`: ${errorTable[code][1]}`;
}

function toJsonSchema(schema: z.core.$ZodType, io: "input" | "output"): Json {
  const { $schema: _dialect, ...json } = z.toJSONSchema(schema, { io, unrepresentable: "any" });
  return json;
}
