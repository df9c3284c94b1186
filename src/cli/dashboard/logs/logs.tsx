import { useMemo, useState } from "react";
import type { Worker } from "../../../shared/contract/workers.js";
import { uploadedWorkers } from "../../uploaded-workers.js";
import { LogView } from "./log-view.js";
import { RequirePermission } from "../components/require-permission.js";
import { PromptLine } from "../components/prompt-line.js";
import { SafeText } from "../components/safe-text.js";
import { useDashboard, useNavigation } from "../session/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import { useQuery } from "../queries/hooks.js";

const none: readonly Worker[] = [];

/** Shows the log of one worker as entries arrive, or the logs of the workers with the most requests. */
export function LogsScreen() {
  return (
    <RequirePermission permission="workers:read">
      <Logs />
    </RequirePermission>
  );
}

function Logs() {
  const { overlays } = useDashboard();
  const { subject } = useNavigation();
  const workers = useQuery("workers", (client) => client.workers.list());
  const metrics = useQuery("metrics", (client) => client.metrics.show({ query: {} }));
  const [worker, setWorker] = useState(subject);
  const [isChoosing, setChoosing] = useState(false);
  const listed = useMemo(() => (workers.value ? uploadedWorkers(workers.value) : none), [workers.value]);
  const requests = useMemo(() => {
    const totals = new Map<string, number>();
    for (const {
      name,
      requests: { total },
    } of metrics.value?.workers ?? [])
      totals.set(name, (totals.get(name) ?? 0) + total);
    return totals;
  }, [metrics.value]);
  const installed = useMemo(() => [...new Set(listed.map(({ name }) => name))], [listed]);
  const names = useMemo(
    () => (worker === undefined ? installed.toSorted((a, b) => (requests.get(b) ?? 0) - (requests.get(a) ?? 0)) : [worker]),
    [worker, installed, requests],
  );
  useKeyScope({ handlers: installed.length > 0 ? { "logs.worker": () => setChoosing(true) } : {} });
  const choose = (text: string) => {
    const name = text.trim();
    setChoosing(false);
    if (name === "") setWorker(undefined);
    else if (installed.includes(name)) setWorker(name);
    else overlays.say("note", `no worker named ${name} is installed`);
  };
  if (isChoosing) return <WorkerPrompt {...{ installed }} onSubmit={choose} onCancel={() => setChoosing(false)} />;
  if (names.length === 0) return <SafeText>{whyEmpty(workers)}</SafeText>;
  const versionsOf = (name: string) => listed.filter((one) => one.name === name).flatMap(({ versions }) => versions);
  const hasVersions = names.some((name) => versionsOf(name).length > 1);
  return <LogView key={worker ?? ""} {...{ names, hasVersions }} />;
}

function whyEmpty({ value, error }: { readonly value: unknown; readonly error: Error | undefined }): string {
  if (value !== undefined) return "no workers; to deploy a folder: runtimectl deploy ./dir";
  return error ? `cannot load the workers: ${error.message}` : "loading…";
}

interface PromptProps {
  readonly installed: readonly string[];
  readonly onSubmit: (text: string) => void;
  readonly onCancel: () => void;
}

function WorkerPrompt({ installed, onSubmit, onCancel }: PromptProps) {
  const [text, setText] = useState("");
  const fitting = installed.filter((name) => name.startsWith(text));
  return (
    <>
      <PromptLine
        label="worker to follow (empty: all):"
        onChange={setText}
        {...{ onSubmit, onCancel }}
        onKey={(key, typed, set) => {
          if (key !== "tab") return false;
          const first = installed.find((name) => name.startsWith(typed) && name !== typed);
          if (first !== undefined) set(first);
          return true;
        }}
      />
      <SafeText dimColor>
        {fitting.length === 0 ? "no worker name starts with this text" : `tab: ${fitting.slice(0, 8).join(" · ")}`}
      </SafeText>
    </>
  );
}
