import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connect } from "../support/connect.js";
import { startDaemon, type TestDaemon } from "../support/start-daemon.js";

describe("a page at the host of the daemon", () => {
  let daemon: TestDaemon;
  let key: string;

  beforeAll(async () => {
    daemon = await startDaemon();
    key = (await connect(daemon.url, daemon.rootKey).keys.create({ body: { name: "operator", role: "admin" } })).data.key;
  });
  afterAll(() => daemon.dispose());

  const reload = async (scheme: string, proto: string | undefined): Promise<string> => {
    const origin = daemon.url.replace("http:", `${scheme}:`);
    const response = await fetch(`${daemon.url}/api/plugins/reload`, {
      method: "POST",
      headers: { cookie: `runtime_api_key=${key}`, origin, ...(proto !== undefined && { "x-forwarded-proto": proto }) },
    });
    const { error } = (await response.json()) as { error?: { code: string } };
    return `${response.status} ${error?.code ?? ""}`.trim();
  };

  it.each([
    ["http", "https"],
    ["https", "http"],
    ["http", "https, http"],
    ["https", "ftp"],
    ["https", ""],
  ])("cannot call the API from the scheme %s when X-Forwarded-Proto is %j", async (scheme, proto) => {
    expect(await reload(scheme, proto)).toBe("403 CSRF_ORIGIN_MISMATCH");
  });

  it.each([
    ["http", undefined],
    ["https", undefined],
    ["http", "http"],
    ["https", "https"],
    ["https", "HTTPS, http"],
  ])("can call the API from the scheme %s when X-Forwarded-Proto is %j", async (scheme, proto) => {
    expect(await reload(scheme, proto)).toBe("200");
  });
});
