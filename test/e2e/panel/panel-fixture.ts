import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { startDaemon, type TestDaemon } from "../../support/start-daemon.js";
import { writeTree } from "../../support/write-tree.js";
import { PanelBrowser, signIn, type Provoked } from "./panel-browser.js";

interface OpenOptions {
  /** Key with which the page is signed in. Default: the root key. */
  readonly key?: string;
  /** Another URL of the daemon. */
  readonly url?: string;
  readonly provoked?: readonly Provoked[];
}

/** A daemon with workers on its disk and a browser whose pages are checked. */
export interface PanelFixture {
  readonly daemon: TestDaemon;
  readonly browser: PanelBrowser;
  /** Creates a key with these permissions. */
  readonly key: (rights: Readonly<Record<string, unknown>>) => Promise<string>;
  /** Opens a signed-in page at a path below the panel. */
  readonly open: (path: string, how?: OpenOptions) => Promise<Page>;
  /** Sends a GET request with the root key and returns the response body. */
  readonly ask: (path: string) => Promise<unknown>;
  readonly dispose: () => Promise<void>;
}

/** `files` are written to the worker directory, by path. */
export async function openPanelFixture(files: Readonly<Record<string, string>>): Promise<PanelFixture> {
  const directory = await mkdtemp(path.join(tmpdir(), "runtimed-test-"));
  await writeTree(path.join(directory, "workers"), files);
  const [daemon, browser] = await Promise.all([startDaemon({ directory }), PanelBrowser.open()]);
  const headers = { "x-api-key": daemon.rootKey, "content-type": "application/json" };
  return {
    daemon,
    browser,
    key: async (rights) => {
      const body = JSON.stringify({ name: "somebody", expiresIn: "30d", ...rights });
      const response = await fetch(`${daemon.url}/api/keys`, { method: "POST", headers, body });
      expect(response.status).toBe(201);
      return ((await response.json()) as { data: { key: string } }).data.key;
    },
    open: async (below, { key = daemon.rootKey, url = daemon.url, provoked = [] } = {}) => {
      const page = await browser.page(`${url}/cpanel/${below}`, { provoked });
      await signIn(page, key);
      return page;
    },
    ask: async (asked) => (await fetch(`${daemon.url}${asked}`, { headers })).json(),
    dispose: async () => {
      // A browser logs a line when a daemon is killed during a stream.
      await browser.close();
      await daemon.dispose();
    },
  };
}

/** Returns the files of one version of a static worker. */
export function versionFiles(name: string, version: string, text: string, more = ""): Record<string, string> {
  const folder = `${name}/${version}`;
  return { [`${folder}/manifest.yaml`]: `name: "${name}"\nversion: "${version}"\n${more}`, [`${folder}/index.html`]: text };
}
