/**
 * The typed client for the HTTP API: `import { connect } from "runtimectl/client"`. The client checks every response against the contract.
 * scripts/write-client-declarations.mjs publishes only the types that this file exports.
 */
export { ApiError, type ApiErrorOptions, type ErrorBody } from "../shared/api-error.js";
export {
  UnexpectedAnswerError,
  type Client,
  type DownloadedBytes,
  type FollowOptions,
  type Transport,
  type TransportRequest,
  type TransportResponse,
} from "../shared/client.js";
export type { UploadSource } from "../shared/contract/endpoint.js";
export type { ErrorCode } from "../shared/errors.js";
export type { Permission } from "../shared/permissions.js";
export { connect, type ConnectOptions } from "./connect.js";
export { createClient } from "./create-client.js";
