import path from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { mountSmallDisk, type SmallDisk } from "../../support/small-disk.js";
import { startDaemon } from "../../support/start-daemon.js";
import { temporaryDirectory } from "../../support/temporary-directory.js";

const params = { scope: "_", name: "app", version: "1.0.0" };

async function startWithPackagesOnSmallDisk() {
  const disk = await mountSmallDisk({ megabytes: 6, names: 400 });
  const state = path.join(await temporaryDirectory(), "state");
  const start = async () => {
    const daemon = await startDaemon({ directory: disk.directory, launcher: disk.launcher, env: { RUNTIME_STATE_DIR: state } });
    onTestFinished(daemon.kill);
    return daemon;
  };
  const daemon = await start();
  const file = uploadOf(
    "app.tgz",
    await packFiles({
      "manifest.yaml": manifestOf("app", "1.0.0"),
      "index.js": "export default { fetch: () => new Response('served') };",
    }),
  );
  await connect(daemon.url, daemon.rootKey).workers.upload({ file });
  return { disk, daemon, start };
}

const textOf = async (url: string) => await (await fetch(`${url}/app/`)).text();

test.each([
  ["is full", (disk: SmallDisk) => disk.leaveKilobytes(0)],
  ["has no free inode", (disk: SmallDisk) => disk.leaveNames(0)],
])("a daemon starts isolates when the package disk has no free space (the disk %s)", async (_, spoil) => {
  const { disk, daemon, start } = await startWithPackagesOnSmallDisk();
  await spoil(disk);

  await connect(daemon.url, daemon.rootKey).workers.restart({ params });
  expect(await textOf(daemon.url)).toBe("served");
  // The previous standby isolate is in use, so the daemon creates the next one now.
  await connect(daemon.url, daemon.rootKey).workers.restart({ params });
  expect(await textOf(daemon.url)).toBe("served");

  await daemon.kill();
  const restarted = await start();
  expect(await textOf(restarted.url)).toBe("served");
});

test("a daemon starts isolates while the disk of the packages is read-only", async () => {
  const { disk, daemon, start } = await startWithPackagesOnSmallDisk();
  // A file that is open for writing prevents a read-only remount.
  await daemon.stop();
  await disk.makeReadOnly();

  const restarted = await start();

  expect(await textOf(restarted.url)).toBe("served");
});
