import type { ConfigSchema } from "../../../../shared/config-schema.js";

const duration = { type: ["string", "number"] } as const;
const size = { type: ["string", "number"] } as const;
const texts = { type: "array", items: { type: "string" } } as const;

/** A manifest field: the schema of its form, and its description. */
interface FieldSchema extends ConfigSchema {
  readonly description: string;
}

export interface FieldGroup {
  readonly title: string;
  readonly fields: Readonly<Record<string, FieldSchema>>;
}

/** The fields of a manifest in the order of the page. The schemas only select the form controls, because the daemon checks all values. */
export const fieldGroups: readonly FieldGroup[] = [
  {
    title: "Limits",
    fields: {
      memory: { ...size, description: "Memory limit of an isolate, such as 128mb" },
      timeout: { ...duration, description: "Time until the response starts, and between two chunks, such as 30s" },
      maxBodySize: { ...size, description: "Maximum size of a request body, such as 10mb" },
      instances: { type: ["integer", "string"], description: "Number of isolates from 1 to 64, or auto" },
      ttl: { ...duration, description: "Time without requests after which an isolate stops; 0: a new isolate for each request" },
      idleTimeout: { ...duration, description: "Time without requests after which onIdle is called" },
      maxRequests: { type: "integer", description: "Number of requests after which an isolate is replaced; 0: never" },
      data: { ...size, description: "Maximum size of the data folder, such as 100mb; not set: no data folder" },
    },
  },
  {
    title: "Serving",
    fields: {
      entrypoint: { type: "string", description: "The file to serve (HTML) or run (JavaScript, TypeScript)" },
      path: { enum: ["below", "full"], description: "Path in the URL of a request: without or with the app's base path" },
      injectBase: { enum: [true, false, "relative", "rewrite"], description: "Changes pages so that their links work below the base path" },
      notFound: { enum: ["spa", "404"], description: "Response of a static site to a missing path: the entry page or 404.html" },
      assets: { description: "Folder of static files beside a module, or directory, workerFirst and notFound, as YAML" },
      headers: { description: "Response headers for static files, as YAML: one name: value per line" },
      immutable: { ...texts, description: "Folders whose files never change, so browsers cache them for 1 year" },
      envPrefix: { ...texts, description: "Prefixes of variables that are inserted into pages" },
      check: { type: "string", description: "Path that deploy requests before a new version is served" },
      accessLog: { type: "boolean", description: "Whether each served request is written to the log" },
      publicRoutes: { description: "Routes that the hooks of plugins skip, as YAML: a list, or one list per method" },
      visibility: { enum: ["public", "protected", "internal"], description: "Visibility in file browsers" },
    },
  },
  {
    title: "Access",
    fields: {
      permissions: { ...texts, description: "Permissions of the isolate beyond its folder and the network" },
      network: {
        type: "object",
        properties: {
          mode: { enum: ["none", "public", "all"], description: "public: no loopback, private or link-local address" },
          allow: { ...texts, description: "Additional targets, such as db.internal:5432" },
        },
        description: "Connections that the isolate is allowed to open",
      },
    },
  },
  {
    title: "Declared in the manifest",
    fields: {
      cron: {
        type: "array",
        items: {
          type: "object",
          properties: {
            schedule: { type: "string", description: "Such as */5 * * * *" },
            endpoint: { type: "string", description: "Path of the request" },
            method: { type: "string", default: "POST" },
          },
        },
        description: "Scheduled requests",
      },
      secrets: { description: "Secrets that the app reads, as YAML: names, or name and optional" },
      hosts: { ...texts, description: "Host names that the app requests. An operator adds them" },
    },
  },
];

/**
 * Returns the schema of a field. For a field without a schema in the panel, returns an empty schema, so that the user edits the field as
 * YAML.
 */
export function schemaOfField(name: string): ConfigSchema {
  return fieldGroups.find(({ fields }) => Object.hasOwn(fields, name))?.fields[name] ?? {};
}
