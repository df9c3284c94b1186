import { useEffect, useRef, useState } from "react";
import type { Offer } from "./offer.js";
import { createArchive, type PackageArchive } from "./package-archive.js";
import type { Installed, UploadTarget } from "./upload-target.js";

/** State of one upload, from reading the package to the finished installation. */
export type UploadState<Known> =
  | { readonly phase: "reading" }
  | { readonly phase: "unreadable"; readonly error: unknown }
  | {
      readonly phase: "ready";
      readonly packageArchive: PackageArchive;
      readonly known: Known | undefined;
      readonly error?: unknown;
      readonly wasCancelled?: boolean;
    }
  | { readonly phase: "sending"; readonly packageArchive: PackageArchive; readonly sentBytes: number }
  | ({ readonly phase: "done" } & Installed<Known>);

interface Upload<Known> {
  readonly state: UploadState<Known>;
  readonly send: () => void;
  /** Aborts the upload. The daemon then installs nothing. */
  readonly cancel: () => void;
}

/** Reads the selected archive or folder immediately, and uploads it when the component calls `send`. */
export function useUpload<Known>(target: UploadTarget<Known>, offer: Offer): Upload<Known> {
  const [state, setState] = useState<UploadState<Known>>({ phase: "reading" });
  const sending = useRef<AbortController>(undefined);
  useEffect(() => {
    const end = new AbortController();
    const read = async () => {
      const packageArchive = await createArchive(offer, target.kind, end.signal);
      const known = await target.find(packageArchive.facts.name);
      if (!end.signal.aborted) setState({ phase: "ready", packageArchive, known });
    };
    read().catch((error: unknown) => !end.signal.aborted && setState({ phase: "unreadable", error }));
    return () => {
      end.abort();
      sending.current?.abort();
    };
    // oxlint-disable-next-line react-hooks/exhaustive-deps -- a new render must not read the folder again or abort the upload
  }, [offer]);
  const send = async ({ packageArchive, known }: { packageArchive: PackageArchive; known: Known | undefined }) => {
    const end = new AbortController();
    sending.current = end;
    const onSent = (sentBytes: number) => !end.signal.aborted && setState({ phase: "sending", packageArchive, sentBytes });
    onSent(0);
    try {
      const { file, filename } = packageArchive;
      const { name, version } = await target.install({ files: [{ file, filename }], onSent, signal: end.signal });
      setState({ phase: "done", name, version, known: await target.find(name).catch(() => undefined) });
    } catch (error) {
      setState({ phase: "ready", packageArchive, known, ...(end.signal.aborted ? { wasCancelled: true } : { error }) });
    }
  };
  return { state, send: () => state.phase === "ready" && void send(state), cancel: () => sending.current?.abort() };
}
