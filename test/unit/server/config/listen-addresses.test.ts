import { expect, test } from "vitest";
import { readConfig } from "../../../../src/server/config/config.js";

const read = (environment: Record<string, string>) => readConfig(environment, { pid: 4711, cwd: "/srv", stdoutIsTerminal: false });

test.each(["0.0.0.0", "::1", "fe80::1%eth0", "localhost", "build-7.example.org", "my_host"])("the variable HOST accepts %s", (host) => {
  expect(read({ HOST: host }).hosts).toEqual([host]);
});

test.each(["HOST", "RUNTIME_ADMIN_HOST"])("the variable %s rejects a value that is neither an address nor a host name", (variable) => {
  for (const text of ["http://127.0.0.1", "127.0.0.1:8001", "300.1.1.1", "two words", "[::1]", "-"])
    expect(() => read({ [variable]: text }), text).toThrow(`${variable}=${JSON.stringify(text)} is not accepted: it takes an IP address`);
});
