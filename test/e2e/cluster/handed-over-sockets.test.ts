import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../support/connect.js";
import { openListeningSocket } from "../../support/listening-socket.js";
import { startDaemon } from "../../support/start-daemon.js";
import { startSqld } from "../../support/start-sqld.js";

// A daemon with sockets from systemd does not listen until it can serve. Until then, only its start keeps the process running.
test("a daemon with sockets from systemd copies the primary's keys, serves and stops", async () => {
  const sqld = await startSqld();
  onTestFinished(sqld.dispose);
  const socket = openListeningSocket();
  onTestFinished(socket.close);

  const daemon = await startDaemon({
    listenFds: [socket.fd],
    env: { RUNTIME_AUTH_DB_MODE: "sync", RUNTIME_AUTH_DB_SYNC_URL: sqld.url },
  });
  onTestFinished(daemon.dispose);

  expect((await connect(daemon.url, daemon.rootKey).keys.list()).keys).toEqual([]);
  expect(await daemon.stop()).toBe(0);
  expect(daemon.output()).toContain('"stopped"');
});
