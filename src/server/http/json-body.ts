import type { Context } from "koa";
import { HttpMethodEnum, koaBody } from "koa-body";
import { ApiError } from "../../shared/api-error.js";
import { hasBody } from "../web/request-body.js";
import { assertPlainEncoding, mediaTypeOf } from "./request-body.js";

/** Reads a JSON body up to a maximum size. Returns undefined if the request has no body. */
export async function readJsonBody(context: Context, maxSizeBytes: number): Promise<unknown> {
  if (!hasBody(context.req)) return undefined;
  assertPlainEncoding(context.req);
  const { type, charset } = mediaTypeOf(context.req);
  if (type !== "application/json" || (charset !== undefined && charset !== "utf-8" && charset !== "utf8"))
    throw new ApiError("UNSUPPORTED_MEDIA_TYPE", "This call requires a JSON body in UTF-8. Send Content-Type: application/json.");
  if (Number(context.req.headers["content-length"] ?? 0) > maxSizeBytes) throw tooLarge(maxSizeBytes);
  const parse = koaBody({
    json: true,
    jsonStrict: false,
    jsonLimit: maxSizeBytes,
    urlencoded: false,
    text: false,
    multipart: false,
    includeUnparsed: false,
    // Includes DELETE, because koa-body does not read the body of a DELETE request by default.
    parsedMethods: [HttpMethodEnum.POST, HttpMethodEnum.PUT, HttpMethodEnum.PATCH, HttpMethodEnum.DELETE],
    onError: rethrow(maxSizeBytes),
  });
  await parse(context, async () => {});
  return (context.request as { body?: unknown }).body;
}

function rethrow(maxSizeBytes: number): (error: Error) => never {
  return (error) => {
    if ((error as { status?: number }).status === 413) throw tooLarge(maxSizeBytes);
    throw new ApiError("INVALID_JSON", "The body is not valid JSON. Send a JSON document in UTF-8.", { cause: error });
  };
}

function tooLarge(maxSizeBytes: number): ApiError {
  return new ApiError("PAYLOAD_TOO_LARGE", `The body exceeds the limit of ${maxSizeBytes} bytes.`);
}
