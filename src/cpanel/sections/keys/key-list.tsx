import { useMemo, useState } from "react";
import type { ApiKey, NewKey } from "../../../shared/contract/keys.js";
import { Button } from "../../components/button.js";
import { counted } from "../../components/counted.js";
import { DataTable } from "../../components/data-table.js";
import { PageHeading } from "../../components/page-heading.js";
import { ResourceList } from "../../components/resource-list.js";
import { SearchField } from "../../components/search-field.js";
import { SelectField } from "../../components/select-field.js";
import { StateNote } from "../../components/state-note.js";
import { Toolbar } from "../../components/toolbar.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { useSearch } from "../../routing/use-search.js";
import { useMay, usePrincipal } from "../../session/use-principal.js";
import { usePanel } from "../../use-panel.js";
import { keyColumns } from "./key-columns.js";
import { keyOperations } from "./key-operations.js";
import { keyState } from "./key-state.js";
import { RevokeKey } from "./revoke-key.js";
import { RotateKey } from "./rotate-key.js";

const states = [
  { value: "", label: "all" },
  { value: "active", label: "active" },
  { value: "ends soon", label: "ends soon" },
  { value: "ended", label: "ended" },
];

export function KeyList({ onRotated }: { onRotated: (created: NewKey) => void }) {
  const { router } = usePanel();
  const principal = usePrincipal();
  const [mayCreate, mayRevoke] = [useMay("keys:create"), useMay("keys:revoke")];
  const api = useApi(keyOperations);
  const resource = useResource("keys", async () => (await api.keys.list()).keys, { isWanted: useMay("keys:read") });
  const [search, setSearch] = useSearch("search");
  const [state, setState] = useSearch("state");
  const [asked, setAsked] = useState<{ readonly deed: "revoke" | "rotate"; readonly apiKey: ApiKey }>();
  const all = resource.data ?? [];
  const rows = all.filter((key) => matches(key, search) && (state === "" || keyState(key, Date.now() / 1000) === state));
  const columns = useMemo(
    () => keyColumns({ principal, mayRevoke, mayRotate: mayRevoke && mayCreate, onAsk: (deed, apiKey) => setAsked({ deed, apiKey }) }),
    [principal, mayRevoke, mayCreate],
  );
  const newKey = mayCreate && (
    <Button kind="primary" onPress={() => router.go("keys/new")}>
      New key
    </Button>
  );
  return (
    <>
      <PageHeading title="Keys" {...(resource.data ? { note: counted(all.length, "key") } : {})}>
        {newKey}
      </PageHeading>
      {all.length > 0 && (
        <Toolbar label="Filter keys">
          <SearchField label="Search by name or prefix" value={search} onChange={setSearch} />
          <SelectField label="State" value={state} onChange={setState} choices={states} />
        </Toolbar>
      )}
      <ResourceList
        noun="key"
        permission="keys:read"
        resource={resource}
        total={all.length}
        rows={rows}
        onClearFilters={() => {
          setSearch("");
          setState("");
        }}
        empty={
          <StateNote title="There is no key yet" action={newKey}>
            The root key made this session. Give people and pipelines keys of their own: they can end, and be revoked.
          </StateNote>
        }
      >
        {(shown) => (
          <DataTable caption="Keys" columns={columns} rows={shown} keyOf={({ id }) => id} sortedBy={{ id: "name", isDescending: false }} />
        )}
      </ResourceList>
      {asked?.deed === "revoke" && <RevokeKey apiKey={asked.apiKey} onClose={() => setAsked(undefined)} onRevoked={resource.refresh} />}
      {asked?.deed === "rotate" && (
        <RotateKey
          apiKey={asked.apiKey}
          onClose={() => setAsked(undefined)}
          onRotated={(created) => {
            onRotated(created);
            void resource.refresh();
          }}
        />
      )}
    </>
  );
}

function matches({ name, keyPrefix }: ApiKey, search: string): boolean {
  const wanted = search.trim().toLowerCase();
  return name.toLowerCase().includes(wanted) || keyPrefix.toLowerCase().startsWith(wanted);
}
