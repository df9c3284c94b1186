import { useState } from "react";
import type { Secret } from "../../../../shared/contract/secrets.js";
import { toPathSegments } from "../../../../shared/package-name.js";
import { Button } from "../../../components/button.js";
import { ConfirmByName } from "../../../components/confirm-by-name.js";
import type { Column } from "../../../components/data-table.js";
import { EmptyState } from "../../../components/empty-state.js";
import { FilteredList } from "../../../components/filtered-list.js";
import { RelativeTime } from "../../../components/relative-time.js";
import { RowActions } from "../../../components/row-actions.js";
import { useApi } from "../../../live/use-api.js";
import { useResource } from "../../../live/use-resource.js";
import { useMay } from "../../../session/use-principal.js";
import { usePanel } from "../../../use-panel.js";
import { secretOperations } from "./secret-operations.js";
import { SetSecret } from "./set-secret.js";

/** Row for a secret that is set, or for a missing secret that an active version requires. */
interface SecretRow {
  readonly name: string;
  readonly state: "set" | "staged" | "missing";
  readonly secret: Secret | undefined;
}

const columns: readonly Column<SecretRow>[] = [
  { id: "name", title: "Name", sortBy: ({ name }) => name, cell: ({ name }) => <code>{name}</code> },
  { id: "state", title: "State", sortBy: ({ state }) => state, cell: ({ state }) => state },
  { id: "source", title: "Set for", shownFrom: "wide", cell: ({ secret }) => (secret?.source === "namespace" ? "namespace" : "app") },
  { id: "by", title: "Set by", shownFrom: "wide", cell: ({ secret }) => secret?.setBy ?? "–" },
  { id: "at", title: "Set", cell: ({ secret }) => (secret ? <RelativeTime at={secret.setAt} /> : "–") },
];

/** Table with the secrets of an app and its namespace, without values. Sets and removes secrets of the app. */
export function SecretList({ app }: { readonly app: string }) {
  const api = useApi(secretOperations);
  const { toasts } = usePanel();
  const ask = () => api.secrets.list({ params: toPathSegments(app) });
  const resource = useResource(`secrets.${app}`, ask, { isWanted: useMay("workers:read") });
  const mayInstall = useMay("workers:install");
  const [edited, setEdited] = useState<string>();
  const [removed, setRemoved] = useState<string>();
  const { secrets = [], missing = [] } = resource.data ?? {};
  const rows: SecretRow[] = [
    ...missing.map((name) => ({ name, state: "missing" as const, secret: undefined })),
    ...secrets.map((secret) => ({ name: secret.name, state: secret.staged ? ("staged" as const) : ("set" as const), secret })),
  ];
  const actions: Column<SecretRow> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: ({ name, secret }) => (
      <RowActions
        name={name}
        actions={[
          { title: "Set", icon: "edit", run: () => setEdited(name) },
          ...(secret?.source === "worker"
            ? [{ title: "Remove", icon: "delete", isDanger: true, run: () => setRemoved(name) } as const]
            : []),
        ]}
      />
    ),
  };
  const remove = async (name: string) => {
    await api.secrets.remove({ params: { ...toPathSegments(app), key: name } });
    toasts.say(`The secret ${name} is removed.`);
    void resource.refresh();
  };
  return (
    <>
      {mayInstall && <Button onPress={() => setEdited("")}>Set a secret</Button>}
      <FilteredList
        noun="secret"
        title="Secrets"
        permission="workers:read"
        resource={resource}
        rows={rows}
        columns={mayInstall ? [...columns, actions] : columns}
        keyOf={({ name, state, secret }) => `${name} ${state} ${secret?.source}`}
        searchLabel="Search by name"
        textOf={({ name }) => name}
        states={["set", "staged", "missing"]}
        stateOf={({ state }) => state}
        empty={<EmptyState title="No secrets yet">The app reads a secret as a variable of its environment.</EmptyState>}
      />
      {edited !== undefined && <SetSecret app={app} name={edited} onClose={() => setEdited(undefined)} onSet={resource.refresh} />}
      {removed !== undefined && (
        <ConfirmByName
          title={`Remove ${removed}?`}
          name={removed}
          action="Remove secret"
          onConfirm={() => remove(removed)}
          onClose={() => setRemoved(undefined)}
        >
          New isolates of {app} start without the value. A secret that an active version requires cannot be removed here.
        </ConfirmByName>
      )}
    </>
  );
}
