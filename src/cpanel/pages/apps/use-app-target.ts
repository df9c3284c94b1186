import { useMemo } from "react";
import { upload } from "../../../shared/contract/worker-changes.js";
import { list } from "../../../shared/contract/workers.js";
import { useApi } from "../../live/use-api.js";
import { nothingToSend } from "../../live/upload-transport.js";
import { useMay } from "../../session/use-principal.js";
import type { UploadTarget } from "../../upload/upload-target.js";
import { usePanel } from "../../use-panel.js";
import { toApps, type App } from "./app.js";
import { AppInstalled } from "./app-installed.js";
import { effectOf, notesOf } from "./upload-effect.js";

const operations = { workers: { list } };

/** Returns the `UploadTarget` for apps: the texts, permission and functions that the upload dialog uses. */
export function useAppTarget(): UploadTarget<App> {
  const { connection, resources } = usePanel();
  const api = useApi(operations);
  const mayRead = useMay("workers:read");
  return useMemo(
    () => ({
      kind: "worker",
      noun: "app",
      permission: "workers:install",
      find: async (name) => (mayRead ? toApps(await api.workers.list()).find((app) => app.name === name) : undefined),
      install: async (sent) => {
        const client = connection.uploadClient({ workers: { upload } }, { field: upload.upload, ...sent });
        const { worker } = (await client.workers.upload({ file: nothingToSend(), query: { check: "true" } })).data;
        await resources.of("workers").refreshAfterChange();
        return worker;
      },
      effectOf,
      notesOf,
      Done: AppInstalled,
    }),
    [connection, resources, api, mayRead],
  );
}
