import { readFile } from "node:fs/promises";
import path from "node:path";
import { text as readText } from "node:stream/consumers";
import { CommandError, usageError } from "../command/command-error.js";
import { defineCommand, type Context } from "../command/command.js";
import { connectAnonymously } from "../client/connection.js";
import { exitCodeOfStatus } from "../command/exit-codes.js";
import type { HttpResponse } from "../client/http-client.js";

const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

interface Options {
  readonly data?: string;
  readonly contentType?: string;
  readonly addHeader?: readonly string[];
  readonly include?: boolean;
}

export const command = defineCommand<[method: string, target: string], Options>({
  arguments: [
    { syntax: "<method>", description: methods.join(", ") },
    { syntax: "<path>", description: "Path without the API prefix (workers or /workers) or with it (/api/workers)" },
  ],
  options: [
    { flags: "-d, --data <body>", description: "Request body: text, @file, or - or @- for standard input" },
    { flags: "--content-type <type>", description: "Content type of the body (default: application/json)" },
    {
      flags: "-H, --add-header <header>",
      description: "Add a request header, such as 'If-None-Match: \"a1\"'; repeatable",
      repeatable: true,
    },
    { flags: "-i, --include", description: "Also show status and headers" },
  ],
  examples: [
    ["runtimectl api GET workers", "send an authenticated GET request"],
    ["runtimectl api POST keys -d @key.json", "read the body from a file"],
    ["echo '{…}' | runtimectl api POST keys -d -", "read the body from standard input"],
    ["runtimectl api GET openapi.json -i", "show status and headers"],
  ],
  notes:
    "Prints the response body unchanged. If the status reports a failure, the error goes to stderr and the exit code is that of the status.\n" +
    "With --json, the document is the body if the body is JSON, otherwise {status, body}. With --include, it is {status, headers, body}.\n" +
    "The key is sent automatically, and only to this daemon: full URLs, paths with .. and headers with credentials are rejected.",
  async run(context, [method, target], options) {
    const verb = method.toUpperCase();
    if (!methods.includes(verb)) throw usageError(`${method} is not a supported HTTP method`, `use ${methods.join(", ")}`);
    const body = options.data === undefined ? undefined : await readBody(context, options.data);
    const added = Object.fromEntries((options.addHeader ?? []).map(toHeader));
    const { call, discover } = await connectAnonymously(context, {});
    const { api } = await discover();
    const typed = body === undefined ? {} : { "content-type": options.contentType ?? "application/json" };
    const response = await call({
      method: verb,
      path: toPath(target, api),
      headers: { ...typed, ...added },
      ...(body === undefined ? {} : { body }),
    });
    if (response.status >= 400) throw refused(response);
    if (options.include) showWhole(context, response);
    else show(context, response);
  },
});

/** Returns the path with the API prefix. Rejects a full URL, because the key must not reach any other daemon than the selected one. */
function toPath(target: string, apiBase: string): string {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target) || target.startsWith("//"))
    throw usageError(`${target} is a URL; use a path`, "select the daemon with --url or --profile");
  if (/[^\x21-\x7e]/.test(target))
    throw usageError(`the path ${target} contains characters that must be percent-encoded`, "encode spaces as %20");
  if (/(^|\/)(\.|%2e){1,2}(?=[/?]|$)/i.test(target)) throw usageError(`${target} contains . or .. segments`, "use a path without . and ..");
  const isFromOrigin = target === apiBase || target.startsWith(`${apiBase}/`) || target.startsWith("/.well-known/");
  return isFromOrigin ? target : `${apiBase}/${target.replace(/^\//, "")}`;
}

/**
 * Matches the names of headers that the user cannot set: headers that runtimectl or its HTTP client sets, and headers with credentials,
 * which other users could see in the command line.
 */
const ownHeaders =
  /^(x-api-key|authorization|proxy-authorization|cookie|host|origin|connection|content-length|transfer-encoding|upgrade|expect)$/;

function toHeader(text: string): [name: string, value: string] {
  const [, name = "", value = ""] = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([\x20-\x7e]*?)[ \t]*$/.exec(text) ?? [];
  if (name === "") throw usageError("--add-header: the header does not have the form 'Name: value'", "use -H 'Name: value'");
  if (ownHeaders.test(name.toLowerCase())) throw usageError(`--add-header: only runtimectl sets the header ${name}`);
  return [name.toLowerCase(), value];
}

async function readBody({ io, workingDirectory }: Context, data: string): Promise<string> {
  if (data === "-" || data === "@-") {
    return readText(io.stdin);
  }
  if (!data.startsWith("@")) return data;
  return readFile(path.resolve(workingDirectory, data.slice(1)), "utf8").catch((error: NodeJS.ErrnoException) => {
    throw usageError(`--data ${data}: the file cannot be read (${error.code ?? error.message})`);
  });
}

function show({ output, terminal, flags }: Context, response: HttpResponse): void {
  const { status, text, bytes } = response;
  const json = parseJson(response);
  if (flags.json) return output.result(json ?? { status, body: text });
  // If stdout is a pipe, writes the body unchanged. Only a JSON body without a final line feed gets a line feed.
  if (!terminal.stdoutIsTty)
    return output.raw(json === undefined || text.endsWith("\n") ? bytes : Buffer.concat([bytes, Buffer.from("\n")]));
  if (json !== undefined) output.result(json, JSON.stringify(json, undefined, 2));
  else if (text !== "") output.result(undefined, text.trimEnd());
}

function showWhole({ output }: Context, response: HttpResponse): void {
  const { status, text } = response;
  const headers = Object.entries(response.headers).map(
    ([name, value]) => [name, name === "set-cookie" ? "[hidden]" : String(value)] as const,
  );
  const lines = [`status ${status}`, ...headers.map(([name, value]) => `${name}: ${value}`), "", text.trimEnd()];
  output.result({ status, headers: Object.fromEntries(headers), body: parseJson(response) ?? text }, lines.join("\n"));
}

function parseJson({ contentType, text }: HttpResponse): unknown {
  if (!contentType?.includes("json")) return undefined;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function refused(response: HttpResponse): CommandError {
  const { code, message, details } = (parseJson(response) as { error?: Record<string, unknown> } | undefined)?.error ?? {};
  const known = typeof code === "string" && typeof message === "string";
  return new CommandError(known ? code : "HTTP_STATUS", known ? message : `status ${response.status}: ${response.text.slice(0, 1000)}`, {
    exitCode: exitCodeOfStatus(response.status, known ? code : undefined),
    details,
    status: response.status,
    requestId: response.requestId,
  });
}
