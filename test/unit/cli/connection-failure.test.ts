import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { connectionFailure } from "../../../src/cli/client/connection-failure.js";
import { runInProcess } from "../../support/run-in-process.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

test("the error suggests the scheme http when an https request reaches an http port", async () => {
  const server = createServer((_request, response) => response.end()).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const home = await temporaryDirectory();

  const run = await runInProcess(["status", "--url", `https://${host}`], { cwd: home, env: { HOME: home, TMPDIR: home } });

  expect(run).toEqual({
    status: 8,
    stdout: "",
    stderr: `error: cannot reach https://${host}: this port uses http, not https\nhint: --url http://${host}\n(UNREACHABLE)\n`,
  });
});

test("the error of a failed TLS handshake omits source file names of OpenSSL", () => {
  const error = Object.assign(new Error("4001:error:0A000410:SSL routines:ssl3_read_bytes:ssl/tls alert:../deps/openssl/x.c:916:"), {
    code: "ERR_SSL_SSL/TLS_ALERT_HANDSHAKE_FAILURE",
    reason: "ssl/tls alert handshake failure",
  });

  expect(connectionFailure({ origin: "https://a.example" }, error)).toMatchObject({
    code: "UNREACHABLE",
    message: "cannot reach https://a.example: the TLS handshake failed: ssl/tls alert handshake failure",
  });
});
