import { useEffect, useRef, useState } from "react";
import { upload } from "../../../../shared/contract/worker-changes.js";
import { list } from "../../../../shared/contract/workers.js";
import { useApi } from "../../../live/use-api.js";
import { useMay } from "../../../session/use-principal.js";
import { usePanel } from "../../../use-panel.js";
import { toApps, type App } from "../app.js";
import type { Offer } from "./offer.js";
import { makeParcel, type Parcel } from "./parcel.js";

/** How far an upload is. */
export type UploadState =
  | { readonly phase: "reading" }
  | { readonly phase: "unreadable"; readonly error: unknown }
  | {
      readonly phase: "ready";
      readonly parcel: Parcel;
      readonly app: App | undefined;
      readonly error?: unknown;
      readonly wasCancelled?: boolean;
    }
  | { readonly phase: "sending"; readonly parcel: Parcel; readonly sentBytes: number }
  | { readonly phase: "done"; readonly name: string; readonly version: string; readonly app: App | undefined };

interface Upload {
  readonly state: UploadState;
  readonly send: () => void;
  /** Ends the sending; nothing is installed then. */
  readonly cancel: () => void;
}

const operations = { workers: { list } };

/** Reads what is offered, then sends it when it is told to. */
export function useUpload(offer: Offer): Upload {
  const { connection, resources } = usePanel();
  const api = useApi(operations);
  const mayRead = useMay("workers:read");
  const [state, setState] = useState<UploadState>({ phase: "reading" });
  const sending = useRef<AbortController>(undefined);
  const appNamed = async (name: string) => (mayRead ? toApps(await api.workers.list()).find((app) => app.name === name) : undefined);
  useEffect(() => {
    const end = new AbortController();
    const read = async () => {
      const parcel = await makeParcel(offer, end.signal);
      const app = await appNamed(parcel.facts.name);
      if (!end.signal.aborted) setState({ phase: "ready", parcel, app });
    };
    read().catch((error: unknown) => !end.signal.aborted && setState({ phase: "unreadable", error }));
    return () => {
      end.abort();
      sending.current?.abort();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- an offer is read once: a new render must not read the folder again, nor end what is sent
  }, [offer]);
  const send = async ({ parcel, app }: { parcel: Parcel; app: App | undefined }) => {
    const end = new AbortController();
    sending.current = end;
    const onSent = (sentBytes: number) => !end.signal.aborted && setState({ phase: "sending", parcel, sentBytes });
    onSent(0);
    try {
      const { file, filename } = parcel;
      const client = connection.uploadClient(
        { workers: { upload } },
        { field: upload.upload, files: [{ file, filename }], onSent, signal: end.signal },
      );
      // The body is the transport's: it sends the file itself.
      const { worker } = (await client.workers.upload({ file: { filename, bytes: nothing() } })).data;
      await resources.of("workers").refreshAfterChange();
      setState({ phase: "done", ...worker, app: await appNamed(worker.name).catch(() => undefined) });
    } catch (error) {
      setState(end.signal.aborted ? { phase: "ready", parcel, app, wasCancelled: true } : { phase: "ready", parcel, app, error });
    }
  };
  return { state, send: () => state.phase === "ready" && void send(state), cancel: () => sending.current?.abort() };
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}
