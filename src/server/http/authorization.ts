import type { IncomingMessage, IncomingHttpHeaders } from "node:http";
import { ApiError } from "../../shared/api-error.js";
import { permissionsFor, type EndpointDefinition } from "../../shared/contract/endpoint.js";
import type { Principal } from "../../shared/contract/principal.js";
import { namespacesCover } from "../../shared/namespace.js";
import { fromPathSegments } from "../../shared/package-name.js";
import { credentialsOf } from "../access/credentials.js";
import { assertPluginUpload } from "../access/plugin-uploads.js";
import type { PluginUploadMode } from "../config/config-variables.js";
import type { Principals } from "../access/principals.js";
import type { PanelHost } from "../web/panel-host.js";
import { schemeOf, forwardedProto } from "./forwarded-proto.js";
import { isHost } from "../../shared/host.js";

interface AuthoriseOptions {
  readonly principals: Principals;
  readonly config: { readonly panelHost: PanelHost | undefined; readonly pluginUploads: PluginUploadMode };
}

/**
 * Checks whether a request is allowed and returns the principal. The order of the checks is part of the API: credential (401), permission,
 * namespace, plugin uploads, Origin.
 */
export function authorise(
  { principals, config }: AuthoriseOptions,
  endpoint: EndpointDefinition,
  request: IncomingMessage,
  params: Readonly<Record<string, string>>,
): Principal | undefined {
  const identified = principals.identify(credentialsOf(request.headers, config.panelHost));
  const caller = identified === "ambiguous" ? undefined : identified;
  if (endpoint.access !== "public") {
    if (!caller) throw unauthenticated(identified === "ambiguous");
    assertAllowed(endpoint, caller.principal, params);
    if (endpoint.changesPlugin) assertPluginUpload(config.pluginUploads, caller.principal);
  }
  if (endpoint.session === "issue") assertPanelHost(config.panelHost, request);
  const isRootInHeader = caller?.principal.isRoot === true && caller.channel === "header";
  const isInternal = request.headers["x-runtime-internal"] === "true";
  if (endpoint.method !== "GET" && !isInternal && !isRootInHeader) {
    assertOwnOrigin(request.headers);
    // Skips the check of the scheme for sign-in and sign-out, because both are public and use no existing session.
    if (endpoint.access !== "public") assertOwnScheme(request.headers);
  }
  return caller?.principal;
}

/** Rejects a sign-in at a host name other than the panel host, because the daemon accepts session cookies only at the panel host. */
function assertPanelHost(panelHost: PanelHost | undefined, request: IncomingMessage): void {
  if (panelHost === undefined || panelHost.matches(request.headers.host)) return;
  const address = panelHost.urlOf("/cpanel/", { scheme: schemeOf(request), host: request.headers.host });
  throw new ApiError(
    "PANEL_HOST_REQUIRED",
    `Sessions are valid only at the panel's host. Sign in at ${address}, or send the key in the X-API-Key header.`,
  );
}

function unauthenticated(isAmbiguous: boolean): ApiError {
  return isAmbiguous
    ? new ApiError(
        "SESSION_AMBIGUOUS",
        "The request has session cookies of different keys. A page of a worker possibly set one of them, so the daemon deleted all of them. Sign in again.",
      )
    : new ApiError(
        "AUTH_REQUIRED",
        "Authentication required. Send a valid API key in the X-API-Key or Authorization: Bearer header, or sign in.",
      );
}

function assertAllowed(endpoint: EndpointDefinition, principal: Principal, params: Readonly<Record<string, string>>): void {
  const missing = permissionsFor(endpoint).filter((permission) => !principal.permissions.includes(permission));
  if (missing.length > 0)
    throw new ApiError(
      "PERMISSION_DENIED",
      `This call needs the permission ${missing.join(" and ")}, which the key "${principal.name}" (role ${principal.role}) does not have.`,
    );
  if (endpoint.namespaced) assertNamespace(principal, packageNameIn(params));
}

/** Returns the package name in the path parameters: `:scope/:name`, or a `:name` that contains the scope. Does not validate the name. */
function packageNameIn({ scope, name = "" }: Readonly<Record<string, string>>): string {
  return scope === undefined ? name : fromPathSegments({ scope, name });
}

/** Throws NAMESPACE_DENIED (403) if the package is outside the namespaces of the principal. */
export function assertNamespace(principal: Principal, packageName: string): void {
  if (namespacesCover(principal.namespaces, packageName)) return;
  const reason = packageName.startsWith("@")
    ? "is in another namespace. Use a key for that namespace."
    : `has no scope. Use a name such as ${JSON.stringify(`${principal.namespaces[0]}/${packageName}`)}, or a key for all namespaces.`;
  throw new ApiError(
    "NAMESPACE_DENIED",
    `The key "${principal.name}" is restricted to ${principal.namespaces.join(", ")}, and ${JSON.stringify(packageName)} ${reason}`,
  );
}

/**
 * Throws if a request that changes data has no Origin header, or if the header names another host. Without this check, a page of another
 * site could send such a request with the operator's cookie.
 */
export function assertOwnOrigin(headers: IncomingHttpHeaders): void {
  const { origin, host } = headers;
  if (origin === undefined || origin === "") {
    const example = isHost(host) ? `http://${host}` : "http://HOST";
    throw new ApiError(
      "CSRF_ORIGIN_REQUIRED",
      `This request changes data, so it needs an Origin header that matches this host. With curl: -H 'Origin: ${example}'.`,
    );
  }
  if (!isOriginOf(origin, host))
    throw new ApiError(
      "CSRF_ORIGIN_MISMATCH",
      "The Origin header does not match the host of this request. Send an Origin header with the scheme and host of the daemon's address.",
    );
}

/**
 * Throws if the scheme in the Origin header differs from the scheme of the client's connection to the proxy. If X-Forwarded-Proto is
 * missing, accepts http and https.
 */
function assertOwnScheme(headers: IncomingHttpHeaders): void {
  const { origin = "" } = headers;
  const scheme = forwardedProto(headers);
  if (scheme !== undefined && !origin.toLowerCase().startsWith(`${scheme}://`))
    throw new ApiError(
      "CSRF_ORIGIN_MISMATCH",
      `The scheme of the Origin header does not match X-Forwarded-Proto (${JSON.stringify(scheme.slice(0, 20))}). Send an Origin header with the scheme of the daemon's address, or configure the proxy to set X-Forwarded-Proto to the scheme of the request that it received.`,
    );
}

function isOriginOf(origin: string, host: string | undefined): boolean {
  if (!isHost(host) || !URL.canParse(origin)) return false;
  const url = new URL(origin);
  if (url.protocol !== "http:" && url.protocol !== "https:") return false;
  // A valid Origin header has scheme, host and port, but no user info, path, query or fragment.
  if (url.origin.toLowerCase() !== origin.toLowerCase() && `${url.protocol}//${host}`.toLowerCase() !== origin.toLowerCase()) return false;
  return url.host === new URL(`${url.protocol}//${host}`).host;
}
