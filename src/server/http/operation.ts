import { rm } from "node:fs/promises";
import type { Context, Middleware } from "koa";
import type { EndpointDefinition } from "../../shared/contract/endpoint.js";
import { positionPattern } from "../../shared/contract/entry-position.js";
import type { Download } from "../platform/download.js";
import type { UploadedFile } from "../platform/uploaded-file.js";
import type { Principals } from "../access/principals.js";
import type { Config } from "../config/config.js";
import type { CallState } from "./error-middleware.js";
import { authorise } from "./authorization.js";
import type { EventStreams } from "./event-streams.js";
import { readForm } from "./multipart.js";
import type { AnyHandler, EventFeed } from "./handler.js";
import { parseInput } from "./input.js";
import { readJsonBody } from "./json-body.js";
import { sendContinue } from "./request-body.js";
import { sendDownload } from "./download.js";
import { clearSessionCookies, issueSessionCookies } from "./session-cookie.js";
import { readUpload } from "./upload-body.js";
import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import type { Installation } from "../../shared/installation.js";
import { credentialsOf } from "../access/credentials.js";
import type { PanelHost } from "../web/panel-host.js";

/**
 * Content-Security-Policy of the documentation page. Allows files of the daemon only. Allows inline styles, because Swagger UI sets style
 * attributes.
 */
const documentPolicy =
  "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

interface OperationOptions {
  readonly endpoint: EndpointDefinition;
  readonly handler: AnyHandler;
  readonly principals: Principals;
  readonly config: Config;
  readonly spoolDirectory: string;
  readonly streams: EventStreams;
}

/**
 * The parsed input of a call. The fields have the type `never`, because one function handles the input of all operations and the types of
 * the inputs differ.
 */
interface ParsedInput {
  readonly params: never;
  readonly query: never;
  readonly body: never;
  readonly file: UploadedFile | undefined;
  readonly fields: never;
  readonly files: readonly UploadedFile[] | undefined;
}

/** Creates the Koa middleware of one operation, which authorizes the call, reads the input, calls the handler and responds. */
export function createOperation(options: OperationOptions): Middleware {
  const { endpoint, handler, config, principals } = options;
  const texts = new ResultTexts();
  const responseOptions = { endpoint, config, texts };
  return async (context) => {
    const state = context.state as CallState;
    state.isRouted = true;
    if (endpoint.returnsKey) context.compress = false;
    const pathParams = ((context as { params?: unknown }).params ?? {}) as Record<string, string>;
    if (endpoint.localOnly) assertLocal(context.req, config);
    const assertAllowed = () => authorise(options, endpoint, context.req, pathParams);
    const principal = assertAllowed();
    if (principal) state.principal = principal;
    const { params, query, body, file, fields, files } = await readInput(context, options, pathParams, assertAllowed);
    state.input = body ?? fields;
    try {
      const result = await handler({
        params,
        query,
        body,
        file: file as never,
        fields,
        files: files as never,
        lastEventId: lastEventIdOf(endpoint, context) as never,
        key: (endpoint.asksInstances
          ? principals.resolve(credentialsOf(context.req.headers, config.panelHost))?.secret
          : undefined) as never,
        principal: endpoint.access === "public" && !endpoint.seesCaller ? undefined : principal,
        via: channelOf(context.req.headers, config.panelHost),
      });
      state.result = result;
      if (typeof result === "function") {
        const feed = result as EventFeed<object>;
        options.streams.start(context.res, { feed, assertAllowed });
        context.respond = false;
      } else if (endpoint.download !== undefined) sendDownload(context, result as Download);
      else answer(context, responseOptions, body, result);
    } finally {
      if (file) {
        // Waits until the upload is complete before the response, because a client that is still sending possibly does not read a response.
        await file.progress?.whole.catch(() => undefined);
        await rm(file.path, { force: true });
      }
      for (const { path } of files ?? []) await rm(path, { force: true });
    }
  };
}

/** Headers that proxies add, in lower case like Node's header names. */
const proxyFields = ["forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip"];

/**
 * Throws NOT_FOUND if a proxy has forwarded the request, or if the request has come neither from this machine nor through the admin
 * listener.
 */
function assertLocal(request: IncomingMessage, { adminListener }: Config): void {
  const address = request.socket.remoteAddress ?? "";
  // With an admin listener, all requests to the API come through this listener, because the main listener does not serve the API.
  const isLocal = adminListener !== undefined || /^(?:::ffff:)?127\.|^::1$/.test(address);
  const isForwarded = Object.keys(request.headers).some((name) => proxyFields.includes(name) || name.startsWith("x-forwarded-"));
  if (!isLocal || isForwarded) throw new ApiError("NOT_FOUND", "Nothing is served at this path.");
}

/**
 * Returns the position in the header `Last-Event-ID`. A text of another form is from another stream, so the function returns undefined and
 * the client receives all events in memory.
 */
function lastEventIdOf(endpoint: EndpointDefinition, context: Context): string | undefined {
  const text = context.get("Last-Event-ID");
  return endpoint.events && positionPattern.test(text) ? text : undefined;
}

/**
 * Reads the input of a call. After the complete body, calls `assertAllowed` again, because an operator can revoke the key while the client
 * sends the body.
 */
async function readInput(
  context: Context,
  options: OperationOptions,
  pathParams: Record<string, string>,
  assertAllowed: () => void,
): Promise<ParsedInput> {
  const { endpoint, config } = options;
  const params = parseInput(endpoint, "path", endpoint.params, pathParams);
  const query = endpoint.query && parseInput(endpoint, "query", endpoint.query, { ...context.query });
  if (endpoint.body || endpoint.upload !== undefined || endpoint.form) sendContinue(context.req, context.res);
  let body: unknown;
  if (endpoint.body) {
    const json = await readJsonBody(context, config.limits.maxJsonBodySizeBytes);
    assertAllowed();
    body = parseInput(endpoint, "body", endpoint.body, json);
  }
  const file =
    endpoint.upload === undefined
      ? undefined
      : await readUpload(context.req, {
          field: endpoint.upload,
          spoolDirectory: options.spoolDirectory,
          maxSizeBytes: config.limits.maxUploadSizeBytes,
          isHashed: config.packageSource !== undefined,
          assertAllowed,
        });
  const form = endpoint.form && (await readForm(context.req, endpoint, { spoolDirectory: options.spoolDirectory, config, assertAllowed }));
  return { params, query, body, file, ...form } as ParsedInput;
}

function answer(
  context: Context,
  { endpoint, config, texts }: Pick<OperationOptions, "endpoint" | "config"> & { texts: ResultTexts },
  body: unknown,
  result: unknown,
): void {
  if (endpoint.session === "issue")
    context.set("Set-Cookie", issueSessionCookies(context.req, (body as { key: string }).key, config.sessionTtlSeconds));
  if (endpoint.session === "clear") context.set("Set-Cookie", clearSessionCookies(context.req));
  context.status = endpoint.status;
  if (endpoint.contentType !== undefined) {
    context.set("Content-Type", endpoint.contentType);
    context.set("Content-Security-Policy", documentPolicy);
    context.body = result;
  } else if (endpoint.result) {
    context.res.setHeader("Content-Type", "application/json; charset=utf-8");
    context.body = texts.of(result);
  }
}

/** Converts a result to JSON. Caches the text of a frozen result, because such a result cannot change. */
class ResultTexts {
  readonly #kept = new WeakMap<object, Buffer>();

  of(result: unknown): string | Buffer {
    if (typeof result !== "object" || result === null || !Object.isFrozen(result)) return JSON.stringify(result);
    const kept = this.#kept.get(result);
    if (kept) return kept;
    const text = Buffer.from(JSON.stringify(result));
    this.#kept.set(result, text);
    return text;
  }
}

/**
 * Returns the kind of client that makes a call. A session cookie identifies the panel, and the `User-Agent` header identifies runtimectl.
 */
function channelOf(headers: IncomingHttpHeaders, panelHost: PanelHost | undefined): Installation["via"] {
  if (credentialsOf(headers, panelHost)[0]?.channel === "cookie") return "panel";
  return headers["user-agent"]?.startsWith("runtimectl/") ? "cli" : "api";
}
