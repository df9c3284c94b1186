import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { WorkerServer } from "../../support/worker-server.js";

let server: WorkerServer;
beforeAll(async () => {
  server = await WorkerServer.start();
  await server.add("standards", { fixture: "standards" });
});
afterAll(() => server.stop());

const text = '{"a":"é"}';
const post = (body: NonNullable<RequestInit["body"]>, headers: Record<string, string> = {}): RequestInit => ({
  method: "POST",
  body,
  headers: { "x-one": "1", ...headers },
});
/** A body without a length is sent in separate frames. */
const streamed = (): RequestInit => ({ ...post(new Blob([text]).stream()), duplex: "half" });

function form(): FormData {
  const data = new FormData();
  data.set("a", "1");
  data.set("f", new File(["content"], "f.txt"));
  return data;
}

describe("the Request object that a worker receives", () => {
  const bytes = [...Buffer.from(text)];
  test.each<[string, RequestInit, unknown[]]>([
    ["isRequest", {}, [true, "[object Request]", true, true, true]],
    ["fields", post(text), ["POST", "/request/fields", "1", true]],
    ["rare", post(text), ["follow", "same-origin", "default", "cors", "", false, "half"]],
    ["text", post(text), [false, text, true]],
    ["json", post(text), [{ a: "é" }]],
    ["bytes", post(text), [bytes]],
    ["blob", post(text, { "content-type": "text/x" }), ["text/x", text]],
    ["form", post(form()), ["1", "content"]],
    ["form", post(new URLSearchParams({ a: "1", f: "2" })), ["1", "2"]],
    ["stream", post(text), [text, true]],
    ["byob", post(text), ['{"a"']],
    ["twice", post(text), [text, "TypeError", "TypeError", true]],
    ["clone", post(text), [true, text, text, "1", "POST"]],
    ["cloneUsed", post(text), ["TypeError"]],
    ["rebuild", post(text), [text, true, "1", "PUT"]],
    ["asInit", post(text), ["http://c.test/path", "POST", text]],
    ["noBody", {}, [null, "", "", false]],
    ["signal", {}, [true, false, true]],
    ["inspect", {}, ["string"]],
    ["text", streamed(), [false, text, true]],
    ["json", streamed(), [{ a: "é" }]],
    ["stream", streamed(), [text, true]],
    ["byob", streamed(), ['{"a"']],
    ["clone", streamed(), [true, text, text, "1", "POST"]],
    ["rebuild", streamed(), [text, true, "1", "PUT"]],
  ])("behaves according to the Fetch standard (case %s)", async (name, init, wanted) => {
    expect(await (await server.fetch(`/standards/request/${name}`, init)).json()).toEqual(wanted);
  });
});

describe("the Response object that a worker returns", () => {
  test.each<[string, unknown[]]>([
    ["isResponse", [true, true, true, true, true, true, true, false, false, "Response", true]],
    ["fields", [201, true, "", "1", "text/plain;charset=UTF-8", "default", "", false]],
    ["text", [false, "héllo", true, "TypeError"]],
    ["body", [true, "streamed"]],
    ["nullBody", [null, ""]],
    ["clone", ["twice", "twice", "b", "TypeError"]],
    ["json", [202, "application/json", "2", { a: 1 }]],
    ["jsonBad", ["TypeError", "TypeError"]],
    ["refused", ["RangeError", "RangeError", "TypeError", "TypeError", "TypeError", "TypeError", "TypeError"]],
    [
      "buffers",
      [
        [2, 3],
        [9, 9, 9],
      ],
    ],
    ["others", ["application/x-www-form-urlencoded;charset=UTF-8", "text/b", "multipart/form-data", "A", "12", ""]],
    ["cookies", [["a=1", "b=2"]]],
    ["wrapped", [201, "b", "inner"]],
  ])("behaves according to the Fetch standard (case %s)", async (name, wanted) => {
    expect(await (await server.fetch(`/standards/response/${name}`)).json()).toEqual(wanted);
  });
});
