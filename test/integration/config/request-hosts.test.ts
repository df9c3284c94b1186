import { expect, test } from "vitest";
import { readConfig } from "../../../src/server/config/config.js";

const read = (environment: Record<string, string>) => readConfig(environment, { pid: 1, cwd: "/srv", stdoutIsTerminal: false });

test("a panel host that differs from RUNTIME_PUBLIC_URL only in the port is rejected", () => {
  const environment = { RUNTIME_PANEL_HOST: "example.org:8443", RUNTIME_PUBLIC_URL: "https://example.org" };
  expect(() => read(environment)).toThrow("a host name other than that of RUNTIME_PUBLIC_URL");
});

test("each configured host name is reserved for the daemon, except wildcard entries", () => {
  const { ownHostNames } = read({
    RUNTIME_PANEL_HOST: "panel.example.org:8443",
    RUNTIME_PUBLIC_URL: "https://main.example.org",
    RUNTIME_APP_DOMAIN: "apps.example.org",
    RUNTIME_ALLOWED_HOSTS: "other.example.org,*.example.org",
  });
  expect([...ownHostNames].toSorted()).toEqual(["apps.example.org", "main.example.org", "other.example.org", "panel.example.org"]);
});
