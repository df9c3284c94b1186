import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog } from "../../../../src/server/log/log.js";
import { ArchiveCollector } from "../../../../src/server/package-store/archive-collector.js";
import type { ArchiveStore, StoredArchive } from "../../../../src/server/package-store/archive-store.js";
import { OciPackageStore } from "../../../../src/server/package-store/oci-package-store.js";
import { OciPluginStore } from "../../../../src/server/package-store/oci-plugin-store.js";
import { PathClaims } from "../../../../src/server/package-store/path-claims.js";
import type { BlobStore } from "../../../../src/server/registry/blob-store.js";
import type { LeaseStore } from "../../../../src/server/storage/lease-store.js";
import { FakeRecords } from "../../../support/fake-records.js";

const log = createLog({ level: "silent" });
const shop = { name: "shop", version: "1.0.0" };

const archiveOf = (digit: string): StoredArchive => ({ digest: `sha256:${digit.repeat(64)}`, sizeBytes: 10, format: "tar" });
const metadataOf = (name: string, fields: Record<string, unknown> = {}) => ({
  name,
  version: "1.0.0",
  enabled: true,
  fields,
  declared: undefined,
});

let records: FakeRecords;
let collector: ArchiveCollector;

beforeEach(() => {
  records = new FakeRecords();
  collector = new ArchiveCollector({ records, leases: {} as LeaseStore, blobs: {} as BlobStore, isShared: true, log });
});

afterEach(() => collector.close());

const pluginStore = () => new OciPluginStore({ records, collector, claims: new PathClaims(records), log });

describe("the index of workers", () => {
  test("rejects changed files if the version was disabled after the change began", async () => {
    const archives = {} as ArchiveStore;
    const store = new OciPackageStore({ records, archives, collector, claims: new PathClaims(records), log });
    await store.replace(metadataOf("shop"), archiveOf("a"), undefined);
    const base = store.find(shop);
    await store.setEnabled(shop, false);

    await expect(store.replace(metadataOf("shop"), archiveOf("b"), base)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });

    expect(store.find(shop)).toMatchObject({ enabled: false, digest: archiveOf("a").digest });
  });
});

describe("the index of plugins", () => {
  test("rejects changed files if the plugin was disabled after the change began", async () => {
    const store = pluginStore();
    await store.publish(metadataOf("greeter"), archiveOf("a"));
    const base = store.find("greeter");
    await store.setEnabled("greeter", false);

    await expect(store.publish(metadataOf("greeter"), archiveOf("b"), base)).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });

    expect(store.find("greeter")).toMatchObject({ enabled: false, digest: archiveOf("a").digest });
  });

  test("rejects settings of a built-in plugin if another daemon stored settings first", async () => {
    const [first, second] = [pluginStore(), pluginStore()];
    await first.publish(metadataOf("plugin-gateway"), archiveOf("a"), null);

    const late = second.publish(metadataOf("plugin-gateway"), archiveOf("b"), null);

    await expect(late).rejects.toMatchObject({ code: "PRECONDITION_FAILED" });
    expect(first.find("plugin-gateway")).toMatchObject({ digest: archiveOf("a").digest });
  });

  test("rejects the base path of another plugin, until that plugin is deleted", async () => {
    const store = pluginStore();
    await store.publish(metadataOf("one", { base: "/hello" }), archiveOf("a"));
    await store.publish(metadataOf("one", { base: "/hello" }), archiveOf("b"));

    const other = () => store.publish(metadataOf("two", { base: "/hello" }), archiveOf("c"));

    await expect(other()).rejects.toMatchObject({ code: "BASE_TAKEN" });
    expect(store.find("two")).toBeUndefined();
    await store.remove("one");
    await other();
    expect(store.find("two")).toMatchObject({ digest: archiveOf("c").digest });
  });

  test("reports a lost plugin as deleted only if an operator has given it up", async () => {
    const store = pluginStore();
    const seen: unknown[] = [];
    store.follow((changes, isAccepted) => seen.push({ changes, isAccepted }));
    const publishAndLose = async (isAccepted: boolean) => {
      await store.publish(metadataOf("greeter"), archiveOf("a"));
      seen.length = 0;
      records.rows = [];
      records.listeners.notify("all", { isAccepted });
    };

    await publishAndLose(false);
    expect(seen).toEqual([]);
    await publishAndLose(true);
    expect(seen).toEqual([{ changes: [{ name: "greeter", type: "plugin.deleted", isElsewhere: true }], isAccepted: true }]);
  });
});
