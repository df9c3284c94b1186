import { useMemo, useState } from "react";
import type { ApiKey, NewKey } from "../../../shared/contract/keys.js";
import { Button } from "../../components/button.js";
import { pluralize } from "../../components/pluralize.js";
import { FilteredList } from "../../components/filtered-list.js";
import { PageHeading } from "../../components/page-heading.js";
import { EmptyState } from "../../components/empty-state.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { keyColumns } from "./key-columns.js";
import { keyOperations } from "./key-operations.js";
import { keyState, keyStates } from "../../../shared/key-state.js";
import { RevokeKey } from "./revoke-key.js";
import { RotateKey } from "./rotate-key.js";

const none: readonly ApiKey[] = [];

export function KeyList({ onRotated }: { onRotated: (created: NewKey) => void }) {
  const { router } = usePanel();
  const principal = usePrincipal();
  const [mayCreate, mayRevoke] = [useMay("keys:create"), useMay("keys:revoke")];
  const api = useApi(keyOperations);
  const resource = useResource("keys", async () => (await api.keys.list()).keys, { isWanted: useMay("keys:read") });
  const [asked, setAsked] = useState<{ readonly action: "revoke" | "rotate"; readonly apiKey: ApiKey }>();
  const all = resource.data ?? none;
  const columns = useMemo(
    () => keyColumns({ principal, mayRevoke, mayRotate: mayRevoke && mayCreate, onAsk: (action, apiKey) => setAsked({ action, apiKey }) }),
    [principal, mayRevoke, mayCreate],
  );
  const newKey = mayCreate && (
    <Button kind="primary" onPress={() => router.go("keys/new")}>
      New key
    </Button>
  );
  return (
    <>
      <PageHeading title="Keys" {...(resource.data ? { note: pluralize(all.length, "key") } : {})}>
        {newKey}
      </PageHeading>
      <FilteredList
        noun="key"
        title="Keys"
        permission="keys:read"
        resource={resource}
        rows={all}
        columns={columns}
        keyOf={({ id }) => id}
        searchLabel="Search by name or prefix"
        textOf={textOf}
        states={keyStates}
        stateOf={stateNow}
        empty={
          <EmptyState title="No keys yet" action={newKey}>
            You signed in with the root key. Create a key for each person and pipeline: such keys can expire and be revoked.
          </EmptyState>
        }
      />
      {asked?.action === "revoke" && <RevokeKey apiKey={asked.apiKey} onClose={() => setAsked(undefined)} onRevoked={resource.refresh} />}
      {asked?.action === "rotate" && (
        <RotateKey
          apiKey={asked.apiKey}
          onClose={() => setAsked(undefined)}
          onRotated={(created) => {
            setAsked(undefined);
            onRotated(created);
            void resource.refresh();
          }}
        />
      )}
    </>
  );
}

function textOf({ name, keyPrefix }: ApiKey): string {
  return `${name} ${keyPrefix}`;
}

function stateNow(key: ApiKey): string {
  return keyState(key, Date.now() / 1000);
}
