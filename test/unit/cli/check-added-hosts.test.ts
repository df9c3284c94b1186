import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { expect, onTestFinished, test } from "vitest";
import type { Settings } from "../../../src/cli/config/settings.js";
import { checkAddedHosts } from "../../../src/cli/doctor/check-host.js";
import type { Finding } from "../../../src/cli/doctor/report.js";

const fixture = (name: string) => readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url), "utf8");
const settings: Settings = {
  profile: undefined,
  isProduction: false,
  isReadOnly: false,
  origin: { value: "http://127.0.0.1:8000", source: "default" },
  key: undefined,
  apiBase: undefined,
  keyWithheld: undefined,
  certificateAuthorities: undefined,
  insecure: false,
  proxy: undefined,
  timeout: { value: 5_000, source: "default" },
};

async function all(findings: AsyncIterable<Finding>): Promise<Finding[]> {
  const list: Finding[] = [];
  for await (const finding of findings) list.push(finding);
  return list;
}

async function serveTls(): Promise<number> {
  const server = createServer({ key: fixture("key"), cert: fixture("certificate") }).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await once(server, "listening");
  return (server.address() as AddressInfo).port;
}

test("runtimectl doctor reports whether the certificate of each added host is trusted", async () => {
  const port = await serveTls();

  const [refused] = await all(checkAddedHosts(["localhost"], settings, port));
  const [trusted] = await all(checkAddedHosts(["localhost"], { ...settings, certificateAuthorities: fixture("certificate") }, port));

  expect(refused).toMatchObject({ check: "host:localhost", status: "fail", message: expect.stringContaining("https://localhost") });
  expect(trusted).toMatchObject({
    check: "host:localhost",
    status: "ok",
    message: expect.stringContaining("the certificate is valid for"),
  });
});

test("runtimectl doctor checks at most 100 added hosts and counts unchecked hosts", async () => {
  const hosts = Array.from({ length: 103 }, (_, index) => `w${index}.localhost`);

  const findings = await all(checkAddedHosts(hosts, settings));

  expect(findings.length).toBe(101);
  expect(findings.at(-1)).toMatchObject({ check: "hosts", status: "warn", message: "3 more host names not checked" });
});
