import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ResponseHeads } from "../../../../../../src/server/workers/isolate/node-server/response-head.js";

const now = new Date("2026-01-01T12:00:00Z");

function textOf(...lines: string[]): string {
  return ["HTTP/1.1 200 OK", ...lines].join("\r\n");
}

function secondsLater(seconds: number): string {
  return new Date(now.getTime() + seconds * 1000).toUTCString();
}

describe("the response headers of a Node.js server", () => {
  beforeEach(() => {
    vi.useFakeTimers({ now, toFake: ["Date"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  test("contain the app's headers and no headers about the connection", () => {
    const head = new ResponseHeads().read(textOf("X-A: 1", "x-b:  two words ", "Content-Length: 5", "Keep-Alive: timeout=5", "Trailer: x"));
    expect(head).toEqual({
      status: 200,
      lines: "x-a\n1\nx-b\ntwo words\ncontent-length\n5",
      length: 5,
      isChunked: false,
      isPersistent: true,
    });
  });

  test("state whether the body is chunked and whether the connection stays open", () => {
    const heads = new ResponseHeads();
    expect(heads.read(textOf("Transfer-Encoding: chunked"))).toMatchObject({ lines: "", isChunked: true, length: undefined });
    expect(heads.read(textOf("Connection: close"))).toMatchObject({ lines: "", isPersistent: false });
  });

  test("are equal for equal text, even after 1000 other responses", () => {
    const heads = new ResponseHeads();
    const first = heads.read(textOf("x-id: 0"));
    for (let id = 0; id < 1000; id += 1) expect(heads.read(textOf(`x-id: ${id}`)).lines).toBe(`x-id\n${id}`);
    expect(heads.read(textOf("x-id: 0"))).toEqual(first);
  });

  test("contain the app's Date header only if it differs from the current time", () => {
    const heads = new ResponseHeads();
    expect(heads.read(textOf(`Date: ${secondsLater(0)}`)).lines).toBe("");
    expect(heads.read(textOf(`Date: ${secondsLater(-60)}`)).lines).toBe(`date\n${secondsLater(-60)}`);
  });

  test("contain an outdated Date header that was current in an earlier response", () => {
    const heads = new ResponseHeads();
    expect(heads.read(textOf(`Date: ${secondsLater(0)}`)).lines).toBe("");
    vi.setSystemTime(now.getTime() + 60_000);
    expect(heads.read(textOf(`Date: ${secondsLater(60)}`)).lines).toBe("");
    expect(heads.read(textOf(`Date: ${secondsLater(0)}`)).lines).toBe(`date\n${secondsLater(0)}`);
  });

  test.each(["SSH-2.0-server", "HTTP/1.1", "HTTP/1.1 2000 OK", ""])("cannot be parsed from the text %j", (text) => {
    expect(() => new ResponseHeads().read(text)).toThrow("not an HTTP response");
  });
});
