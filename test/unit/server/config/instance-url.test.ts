import { describe, expect, test } from "vitest";
import { isInstanceUrl, isLoopbackUrl, readInstanceUrl } from "../../../../src/server/config/instance.js";

describe("the URL at which other daemons reach a daemon", () => {
  test.each([
    "https://eu-1.example.org",
    "https://203.0.113.7:8443",
    "http://10.0.0.11:8000",
    "http://172.16.0.1",
    "http://172.31.255.255",
    "http://192.168.1.2:8000",
    "http://127.0.0.1:8000",
    "http://[::1]:8000",
    "http://[fd00::1]:8000",
  ])("is accepted (%s)", (url) => {
    expect(readInstanceUrl(url)).toBe(url);
    expect(isInstanceUrl(url)).toBe(true);
  });

  test.each([
    ["a public address with http", "http://203.0.113.7:8000"],
    ["a public IPv6 address with http", "http://[2001:db8::1]:8000"],
    ["a mapped public address with http", "http://[::ffff:203.0.113.7]:8000"],
    ["an address beyond a private network", "http://172.32.0.1"],
    ["the metadata server of clouds", "http://169.254.169.254"],
    ["all addresses", "http://0.0.0.0:8000"],
    ["a link-local IPv6 address", "http://[fe80::1]:8000"],
    ["a host name with http", "http://eu-1.internal:8000"],
    ["localhost with http", "http://localhost:8000"],
    ["a private address as the beginning of a name", "http://10.0.0.11.example.org"],
    ["a path", "https://eu-1.example.org/api"],
    ["a query", "https://eu-1.example.org?a=1"],
    ["a password", "https://user:secret-word@eu-1.example.org"],
    ["another scheme", "ftp://10.0.0.11"],
    ["no scheme", "10.0.0.11:8000"],
  ])("is rejected with an error that names the variable (%s)", (_reason, url) => {
    expect(() => readInstanceUrl(url)).toThrow(/^RUNTIME_INSTANCE_URL=/);
    expect(() => readInstanceUrl(url)).not.toThrow(/secret-word/);
    expect(isInstanceUrl(url)).toBe(false);
  });

  test("is optional", () => {
    expect(readInstanceUrl("")).toBeUndefined();
  });
});

test.each([
  ["http://127.0.0.1:8000", true],
  ["http://127.8.0.1:8000", true],
  ["http://[::1]:8000", true],
  ["https://localhost:8000", true],
  ["http://10.0.0.11:8000", false],
  ["http://[fd00::1]:8000", false],
  ["https://localhost.example.org", false],
])("isLoopbackUrl recognizes loopback addresses (%s: %s)", (url, isLoopback) => {
  expect(isLoopbackUrl(url)).toBe(isLoopback);
});
