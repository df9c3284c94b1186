import { useMemo } from "react";
import * as contract from "../../../shared/contract/isolates.js";
import { Button } from "../../components/button.js";
import { DataTable, type Column } from "../../components/data-table.js";
import { ErrorMessage } from "../../components/error-message.js";
import { RelativeTime } from "../../components/relative-time.js";
import { useMutation } from "../../components/use-mutation.js";
import { DaemonAwayError } from "../../live/daemon-away-error.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { megabytes } from "../overview/figures.js";

const operations = { isolates: { list: contract.list, stop: contract.stop } };

/**
 * Table with the isolates of an app. The user can stop an isolate: the isolate completes its running requests, and the next request starts
 * a new isolate.
 */
export function AppIsolates({ name }: { name: string }) {
  const api = useApi(operations);
  const { toasts } = usePanel();
  const mayStop = useMay("workers:restart");
  const { isPending, error: failure, dismiss, run } = useMutation();
  const { data, error, refresh } = useResource(`isolates ${name}`, () => api.isolates.list({ query: { worker: name } }), {
    isWanted: useMay("workers:read"),
  });
  const columns = useMemo(() => {
    const stop = (pid: number) =>
      void run(async () => {
        await api.isolates.stop({ params: { pid: String(pid) } });
        toasts.say(`Isolate ${pid} is stopped. The next request starts a new one.`, { subject: `isolate ${pid}` });
        await refresh();
      });
    return isolateColumns(mayStop ? { isPending, stop } : undefined);
  }, [api, toasts, mayStop, isPending, refresh]);
  return (
    <section aria-labelledby="app-isolates" className="app-isolates">
      <h2 id="app-isolates">Isolates</h2>
      {failure !== undefined && <ErrorMessage title="The isolate could not be stopped" error={failure} onDismiss={dismiss} />}
      {error !== undefined && !(error instanceof DaemonAwayError) && <ErrorMessage title="The isolates could not be read" error={error} />}
      {data?.length === 0 && <p className="quiet">No isolate is running.</p>}
      {data !== undefined && data.length > 0 && (
        <DataTable caption={`Isolates of ${name}`} columns={columns} rows={data} keyOf={({ pid }) => pid} />
      )}
    </section>
  );
}

interface StopOptions {
  readonly isPending: boolean;
  readonly stop: (pid: number) => void;
}

function isolateColumns(stopping: StopOptions | undefined): readonly Column<contract.Isolate>[] {
  const columns: readonly Column<contract.Isolate>[] = [
    { id: "pid", title: "Process", cell: ({ pid }) => pid },
    { id: "version", title: "Version", shownFrom: "wide", cell: ({ version }) => version },
    { id: "state", title: "State", cell: ({ state }) => state },
    { id: "started", title: "Started", shownFrom: "wide", cell: ({ startedAt }) => <RelativeTime at={startedAt} /> },
    { id: "requests", title: "Requests", isNumeric: true, shownFrom: "wide", cell: ({ requests }) => requests.toLocaleString("en-GB") },
    { id: "in-flight", title: "In flight", isNumeric: true, shownFrom: "widest", cell: ({ inFlight }) => inFlight },
    { id: "sockets", title: "WebSockets", isNumeric: true, shownFrom: "widest", cell: ({ sockets }) => sockets },
    { id: "memory", title: "Memory", isNumeric: true, cell: ({ pssBytes, rssBytes }) => megabytes(pssBytes ?? rssBytes) },
    { id: "cpu", title: "CPU time", isNumeric: true, shownFrom: "widest", cell: ({ cpuSeconds }) => `${cpuSeconds.toFixed(1)} s` },
  ];
  if (!stopping) return columns;
  return [
    ...columns,
    {
      id: "actions",
      title: "Actions",
      isActions: true,
      cell: ({ pid, state }) =>
        state !== "draining" && (
          <Button kind="bare" aria-label={`Stop isolate ${pid}`} isPending={stopping.isPending} onPress={() => stopping.stop(pid)}>
            Stop
          </Button>
        ),
    },
  ];
}
