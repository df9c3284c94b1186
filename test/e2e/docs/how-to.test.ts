import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { connect, uploadOf } from "../../support/connect.js";
import { pagesIn, runPage, type RunOptions } from "../../support/documented-commands.js";
import { withService, writeSchemaBackup } from "../../support/documented-service.js";
import { manifestOf, packFiles } from "../../support/pack-files.js";
import { startDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";

/** Both addresses of these pages are those of the test's daemon. */
const oneInstance: RunOptions = { replace: (_folder, { url }) => ({ "http://10.0.0.11:8000": url, "http://10.0.0.12:8000": url }) };

/** Pages whose commands need more than a daemon and an empty folder. */
const options: Readonly<Record<string, RunOptions>> = {
  "docs/how-to/backup-restore.md": withService,
  "docs/how-to/command-line.md": {
    replace: (_folder, { url }) => ({ "https://rt.example.org": url }),
    prepare: async (folder, { rootKey }) => await writeFile(path.join(folder, "prod.key"), rootKey),
  },
  "docs/how-to/custom-domain.md": {
    prepare: async (_folder, { url, rootKey }) => {
      const archive = await packFiles({ "manifest.yaml": manifestOf("shop", "1.0.0"), "index.html": "<h1>Shop</h1>" });
      await connect(url, rootKey).workers.upload({ file: uploadOf("shop.tgz", archive) });
    },
  },
  "docs/how-to/install.md": { replace: (_folder, { rootKey }) => ({ "openssl rand -base64 32": `echo '${rootKey}'` }) },
  "docs/how-to/keys.md": { ...withService, prepare: async (folder) => void (await mkdir(path.join(folder, "root/etc/runtimed"), { recursive: true })) },
  "docs/how-to/multi-instance.md": oneInstance,
  "docs/how-to/package-registry.md": oneInstance,
  "docs/how-to/systemd.md": withService,
  "docs/how-to/uninstall.md": {
    ...withService,
    prepare: async (folder) =>
      await writeTree(folder, {
        ".runtime/root.key": "",
        "root/etc/systemd/system/runtimed.service": "",
        "root/etc/systemd/system/runtimed.socket": "",
        "root/etc/runtimed/root-key": "",
      }),
  },
  "docs/how-to/upgrade.md": {
    ...withService,
    prepare: async (folder, daemon) => {
      await mkdir(path.join(folder, "backup"));
      await mkdir(path.join(folder, "root/etc/runtimed"), { recursive: true });
      writeSchemaBackup(daemon);
    },
  },
};

/** Variables of the daemon of a page. */
const daemonVariables: Readonly<Record<string, Record<string, string>>> = {
  "docs/how-to/custom-domain.md": {
    RUNTIME_APP_DOMAIN: "apps.example.org",
    RUNTIME_PUBLIC_URL: "https://apps.example.org",
    RUNTIME_PANEL_HOST: "panel.example.org",
    RUNTIME_ALLOWED_HOSTS: "apps.example.org,panel.example.org,127.0.0.1",
  },
  "docs/how-to/operate-instances.md": { RUNTIME_INSTANCE_NAME: "eu-1" },
  "docs/how-to/panel.md": { RUNTIME_PANEL_HOST: "panel.localhost:8000", RUNTIME_PUBLIC_URL: "http://127.0.0.1:8000" },
};

describe("the commands in a how-to page", async () => {
  const pages = await pagesIn("docs/how-to");

  test.each(pages)("succeed in the order of the page, and print the documented output (page %s)", { timeout: 180_000 }, async (page) => {
    const daemon = await startDaemon({ env: daemonVariables[page] ?? {} });
    onTestFinished(() => daemon.dispose());

    const { outputs } = await runPage(page, daemon, options[page]);

    for (const { command, output } of outputs) for (const text of command.expected) expect(output, command.text).toContain(text);
  });
});
