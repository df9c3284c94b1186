import type { TransportResponse } from "../../shared/client.js";
import { CommandError } from "../command/command-error.js";
import { exitCodes } from "../command/exit-codes.js";

export interface HttpResponse extends TransportResponse {
  readonly contentType: string | undefined;
  readonly location: string | undefined;
  readonly bytes: Buffer;
  readonly headers: Headers;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

export function toResponse(status: number, headers: Headers, bytes: Buffer): HttpResponse {
  return {
    status,
    bytes,
    headers,
    requestId: headerOf(headers, "x-request-id"),
    contentType: headerOf(headers, "content-type"),
    location: headerOf(headers, "location"),
    get text() {
      return bytes.toString("utf8");
    },
  };
}

function headerOf(headers: Headers, name: string): string | undefined {
  const value = headers[name];
  return typeof value === "string" ? value : value?.[0];
}

/** A key must not travel where nobody sent it. */
export function refuseRedirect({ status, location }: HttpResponse, origin: string): void {
  if (status < 300 || status > 399 || location === undefined) return;
  const target = URL.canParse(location, origin) ? new URL(location, origin) : undefined;
  throw new CommandError("REDIRECTED", `${origin} redirects to ${target?.href ?? location}; runtimectl follows no redirect`, {
    exitCode: exitCodes.failed,
    hint: target && target.origin !== origin ? `if that is your daemon, use --url ${target.origin} and sign in there` : undefined,
  });
}
