import { describe, expect, test } from "vitest";
import { assertOwnOrigin } from "../../../../src/server/http/authorization.js";

const host = "runtime.example:8000";

const refusalOf = (headers: { origin?: string; host?: string }) => {
  try {
    assertOwnOrigin(headers);
    return undefined;
  } catch (error) {
    return (error as { code: string }).code;
  }
};

describe("an origin that equals the requested host", () => {
  test.each([
    [host, `http://${host}`],
    // Behind a TLS proxy, the page's scheme differs from the daemon's.
    [host, `https://${host}`],
    ["runtime.example", "http://runtime.example"],
    ["runtime.example", "https://runtime.example"],
    ["runtime.example:80", "http://runtime.example"],
    ["runtime.example:443", "https://runtime.example"],
    ["RUNTIME.example:8000", `http://${host}`],
    [host, "HTTP://RUNTIME.EXAMPLE:8000"],
    ["my_host:8000", "http://my_host:8000"],
    ["127.0.0.1:8000", "http://127.0.0.1:8000"],
    ["[::1]:8000", "http://[::1]:8000"],
    ["[::1]", "https://[::1]"],
  ])("is accepted with the headers Host: %s and Origin: %s", (ownHost, origin) => {
    expect(refusalOf({ host: ownHost, origin })).toBeUndefined();
  });
});

describe("an origin that differs from the requested host", () => {
  test.each([
    "null",
    "http://evil.example",
    "http://evil.example:8000",
    `http://${host}.evil.example`,
    `http://evil.${host}`,
    `http://evil.example/${host}`,
    `http://${host}@evil.example`,
    `http://evil.example#${host}`,
    `http://evil.example?${host}`,
    `http://user@${host}`,
    `http://user:password@${host}`,
    `http://${host}/`,
    `http://${host}/path`,
    `http://${host}?query`,
    `http://${host}#fragment`,
    `http://${host} `,
    ` http://${host}`,
    `http://${host}, http://${host}`,
    `http://${host}, http://evil.example`,
    `http://${host}\\@evil.example`,
    `//${host}`,
    host,
    `ftp://${host}`,
    `file://${host}`,
    `javascript://${host}`,
    `chrome-extension://${host}`,
    `blob:http://${host}`,
    "http://runtime.example",
    "http://runtime.example:80",
    "http://runtime.example:08000",
    "http://runtime.example.:8000",
    "http://runtime%2eexample:8000",
    "http:runtime.example:8000",
    "http:/runtime.example:8000",
    "http:///runtime.example:8000",
    "http://",
    "http://[",
    "undefined",
    "*",
  ])("is rejected with the header Origin: %s", (origin) => {
    expect(refusalOf({ host, origin })).toBe("CSRF_ORIGIN_MISMATCH");
  });
});

describe("an invalid Host header", () => {
  test.each([
    ["user@runtime.example", "http://runtime.example"],
    ["evil.example:x@runtime.example", "http://runtime.example"],
    ["runtime.example/", "http://runtime.example"],
    ["runtime.example#", "http://runtime.example"],
    ["runtime.example, evil.example", "http://runtime.example"],
    ["runtime.example:99999", "http://runtime.example:99999"],
    ["runtime.example:", "http://runtime.example"],
    ["256.256.256.256", "http://runtime.example"],
    ["[::::]", "http://[::::]"],
    ["[]", "http://[]"],
    ["", "http://"],
    [undefined, "http://runtime.example"],
    [undefined, "http://undefined"],
  ])("is rejected with the headers Host: %s and Origin: %s", (ownHost, origin) => {
    expect(refusalOf({ origin, ...(ownHost === undefined ? {} : { host: ownHost }) })).toBe("CSRF_ORIGIN_MISMATCH");
  });
});

describe("a missing or empty Origin header", () => {
  test.each([undefined, ""])("is rejected with an error that contains the required header (Origin: %j)", (origin) => {
    const headers = { host, ...(origin === undefined ? {} : { origin }) };

    expect(() => assertOwnOrigin(headers)).toThrow(
      expect.objectContaining({ code: "CSRF_ORIGIN_REQUIRED", message: expect.stringContaining(`-H 'Origin: http://${host}'`) }),
    );
  });

  test("is rejected with an error that does not contain a hostile Host header", () => {
    expect(() => assertOwnOrigin({ host: "x' ; rm -rf /" })).toThrow(
      expect.objectContaining({ message: expect.not.stringContaining("rm") }),
    );
  });
});
