/** Whether a value is a `Response` that can be sent, also one of another implementation than Node's. `Response.error()` is none. */
export function isResponse(value: unknown): value is Response {
  if (Object.prototype.toString.call(value) !== "[object Response]") return false;
  const { status } = value as Response;
  return status >= 200 && status <= 599;
}

/** Whether a value is a `Request`, of whatever implementation. */
export function isRequest(value: unknown): value is Request {
  return Object.prototype.toString.call(value) === "[object Request]";
}

export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function";
}

/** Whether the body can still be sent: nobody has read it, nobody holds it. */
export function isSendable({ bodyUsed, body }: Response): boolean {
  return !bodyUsed && body?.locked !== true;
}

/** Lets go of an answer that nobody will get. */
export function dropResponse(value: unknown): void {
  if (isResponse(value) && isSendable(value)) void value.body?.cancel().catch(() => undefined);
}
