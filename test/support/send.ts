import { Client, type Dispatcher } from "undici";
import { expect } from "vitest";
import { errorTable, type ErrorCode } from "../../src/shared/errors.js";

export interface Call {
  readonly method?: string;
  /** Path that is sent unchanged: not decoded and not normalized. */
  readonly path: string;
  readonly headers?: Record<string, string | string[]>;
  readonly body?: Dispatcher.DispatchOptions["body"];
}

export interface Answer {
  readonly status: number;
  readonly headers: Record<string, string | string[] | undefined>;
  readonly text: string;
}

/** Creates a function that sends calls unchanged: any path, Host or Origin. */
export function createSender(url: string): ((call: Call) => Promise<Answer>) & { close: () => Promise<void> } {
  const client = new Client(new URL(url).origin);
  const send = async ({ method = "GET", path, headers = {}, body = null }: Call): Promise<Answer> => {
    const response = await client.request({ method, path, headers, body });
    return { status: response.statusCode, headers: response.headers, text: await response.body.text() };
  };
  return Object.assign(send, { close: () => client.destroy() });
}

/** Checks that a response is a rejection with this code, in the format of all errors. */
export function expectRefusal(answer: Answer, code: ErrorCode, hint?: string): void {
  expect(answer.headers["content-type"], hint).toBe("application/json; charset=utf-8");
  const body = JSON.parse(answer.text) as { error: { code: string; message: string; details?: unknown } };
  expect({ status: answer.status, code: body.error.code }, hint).toEqual({ status: errorTable[code][0], code });
  expect(Object.keys(body)).toEqual(["error"]);
  expect(["code,message", "code,message,details"]).toContain(Object.keys(body.error).join());
  expect(body.error.message.length, "the length of the message").toBeGreaterThan(10);
  expect(answer.headers["x-request-id"], "X-Request-Id").toMatch(/^[\x21-\x7e]{1,128}$/);
}
