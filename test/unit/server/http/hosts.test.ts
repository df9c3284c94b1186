import { describe, expect, test } from "vitest";
import { AllowedHosts } from "../../../../src/server/web/allowed-hosts.js";
import { PanelHost } from "../../../../src/server/web/panel-host.js";

const parse = (text: string): PanelHost => {
  const panelHost = PanelHost.parse(text);
  if (!panelHost) throw new Error(`${text} is no host`);
  return panelHost;
};

describe("the panel's host", () => {
  test.each([
    ["panel.example.org", "panel.example.org", true],
    ["panel.example.org", "PANEL.example.org:8443", true],
    ["panel.example.org", "panel.example.org.", true],
    ["panel.example.org:443", "panel.example.org", true],
    ["panel.example.org:8443", "panel.example.org:8443", true],
    ["panel.example.org:8443", "panel.example.org", false],
    ["panel.example.org:8443", "panel.example.org:8444", false],
    ["panel.example.org", "example.org", false],
    ["panel.example.org", "evil-panel.example.org", false],
    ["panel.example.org", "user@panel.example.org", false],
    ["panel.example.org", "panel.example.org/", false],
    ["[::1]", "[0:0::1]:8000", true],
    ["panel.example.org", undefined, false],
  ])("with the value %s is compared with the header Host: %s (match: %s)", (configured, host, isMatch) => {
    expect(parse(configured).matches(host)).toBe(isMatch);
  });

  test.each(["", "https://panel.example.org", "panel.example.org/", "a b", "panel.example.org:port", "*.example.org"])(
    "is rejected with the value %j",
    (text) => {
      expect(PanelHost.parse(text)).toBeUndefined();
    },
  );

  test.each([
    ["panel.example.org", "apps.example.org", "https", "https://panel.example.org/cpanel/"],
    ["panel.localhost", "127.0.0.1:8000", "http", "http://panel.localhost:8000/cpanel/"],
    ["panel.example.org:8443", "apps.example.org:443", "https", "https://panel.example.org:8443/cpanel/"],
    ["panel.example.org", undefined, "http", "http://panel.example.org/cpanel/"],
  ] as const)("with the value %s redirects a request to the host %s over %s to the URL %s", (configured, host, scheme, url) => {
    expect(parse(configured).urlOf("/cpanel/", { scheme, host })).toBe(url);
  });
});

describe("allowed hosts", () => {
  const allowed = AllowedHosts.parse(["localhost", "*.Example.org", "127.0.0.1", "::1", "[2001:db8::1]"]);

  test.each(["localhost", "LOCALHOST:8000", "a.example.org", "a.b.example.org:1", "127.0.0.1:8000", "[::1]:8000", "[2001:DB8:0::1]"])(
    "include the requested host %s",
    (host) => {
      expect(allowed?.includes(host)).toBe(true);
    },
  );

  test.each(["example.org", "evilexample.org", "a.localhost", "127.0.0.2", "[::2]", "localhost@evil.example", "", undefined])(
    "do not include the requested host %s",
    (host) => {
      expect(allowed?.includes(host)).toBe(false);
    },
  );

  test.each(["localhost:8000", "http://localhost", "*", "*.", "a.*.example.org", "a b", "[::1]:80"])(
    "cannot be configured with the invalid entry %j",
    (entry) => {
      expect(AllowedHosts.parse([entry])).toBeUndefined();
    },
  );
});
