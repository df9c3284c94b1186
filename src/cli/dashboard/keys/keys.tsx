import type { ApiKey } from "../../../shared/contract/keys.js";
import { keyState, type KeyState } from "../../../shared/key-state.js";
import type { Principal } from "../../../shared/contract/principal.js";
import { ago, endsIn, toDay, toMinute } from "../../output/format.js";
import { revokeKey, rotateKey, toKeyTarget, type KeyTarget } from "../actions/keys.js";
import { Detail, type Fact } from "../components/detail.js";
import type { Column } from "../components/list.js";
import { ListScreen } from "../components/list-screen.js";
import { RequirePermission, useMay, useMissingPermissions, lacking } from "../components/require-permission.js";
import { useActions } from "../actions/use-actions.js";
import { useDashboard, useNavigation } from "../session/hooks.js";
import { useIsStale, useQuery } from "../queries/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";

interface Row extends KeyTarget {
  readonly state: KeyState;
}

const keyOf = ({ key }: Row) => String(key.id);
const endColors: Readonly<Record<KeyState, string | undefined>> = { active: undefined, "expires soon": "yellow", expired: "red" };
const endCell = ({ key }: Row) => (key.expiresAt === undefined ? "never" : endsIn(key.expiresAt, Date.now()));
const lastUseCell = ({ key }: Row) => (key.lastUsedAt === undefined ? "never" : ago(key.lastUsedAt, Date.now()));
const endFact = (row: Row) => (row.key.expiresAt === undefined ? "never" : `${toMinute(row.key.expiresAt)} (${endCell(row)})`);

const columns: readonly Column<Row>[] = [
  { heading: "NAME", text: ({ key, isOwn }) => `${key.name}${isOwn ? " (in use)" : ""}` },
  { heading: "ROLE", width: 6, text: ({ key }) => key.role },
  { heading: "PREFIX", width: 12, text: ({ key }) => key.keyPrefix },
  { heading: "EXPIRES", width: 10, text: endCell, color: ({ state }) => endColors[state] },
  { heading: "LAST USED", width: 10, text: lastUseCell },
  { heading: "NAMESPACES", width: 12, text: ({ key }) => key.namespaces.join(" ") },
];

/** Lists all API keys except revoked ones. Shows only the prefix of each key. */
export function KeysScreen() {
  return (
    <RequirePermission permission="keys:read">
      <Keys />
    </RequirePermission>
  );
}

function Keys() {
  const { overlays, isAccessible } = useDashboard();
  const keys = useQuery("keys", async (client) => (await client.keys.list()).keys);
  const principal = useQuery("session", (client) => client.session.show()).value?.principal;
  const isStale = useIsStale();
  const { subject } = useNavigation();
  const mayCreate = useMay()("keys:create");
  const create = () =>
    isAccessible
      ? overlays.say("note", "in accessible mode a key would stay in the terminal: use runtimectl keys create --out FILE")
      : overlays.show({ kind: "newKey" });
  const isMissing = useMissingPermissions([{ permission: "keys:create" }]).length > 0;
  useKeyScope({
    handlers: mayCreate ? { "keys.create": create } : {},
    refusals: isMissing ? { "keys.create": () => overlays.say("note", lacking("keys:create")) } : {},
    lines: ["runtimectl keys list", ...(mayCreate ? ["runtimectl keys create --role editor"] : [])],
  });
  return (
    <ListScreen
      nouns={["key", "keys"]}
      {...{ columns, keyOf, isStale }}
      firstKey={subject}
      items={keys.value && toRows(keys.value, { principal, isAccessible })}
      error={keys.error}
      textOf={(row) => `${row.key.name} ${row.key.role} ${row.key.keyPrefix} ${row.key.namespaces.join(" ")} ${endFact(row)}`}
      empty="no keys; to create one: runtimectl keys create --role editor"
      detail={(row) => <KeyDetail row={row} isStale={isStale} />}
    />
  );
}

function KeyDetail({ row, isStale }: { readonly row: Row; readonly isStale: boolean }) {
  useActions([rotateKey, revokeKey], row, "runtimectl keys list");
  return <Detail title={`${row.key.name}, key ${row.key.id}`} facts={factsOf(row)} isStale={isStale} />;
}

function factsOf(row: Row): Fact[] {
  const { key, isOwn, state } = row;
  return [
    ...(isOwn ? [{ name: "in use", value: "by this dashboard; a key cannot revoke itself", color: "cyan" }] : []),
    { name: "prefix", value: `${key.keyPrefix}…` },
    { name: "role", value: key.role },
    { name: "permissions", value: permissionsInWords(key.permissions), mostLines: 6 },
    { name: "namespaces", value: key.namespaces.includes("*") ? "* (all packages)" : key.namespaces.join(" ") },
    { name: "created", value: `${toDay(key.createdAt)} · last used ${lastUseCell(row)}` },
    { name: "expires", value: endFact(row), ...(state === "expired" ? { color: endColors.expired } : {}) },
  ];
}

/** Returns permissions as text, grouped by resource, such as `workers read install · keys read`. */
function permissionsInWords(permissions: readonly string[]): string {
  const parts = permissions.map((permission) => permission.split(":"));
  const nouns = [...new Set(parts.map(([noun = ""]) => noun))];
  const verbsOf = (wanted: string) => parts.flatMap(([noun, verb = ""]) => (noun === wanted ? [verb] : []));
  return nouns.map((noun) => [noun, ...verbsOf(noun)].join(" ")).join(" · ");
}

function toRows(keys: readonly ApiKey[], dashboard: { principal: Principal | undefined; isAccessible: boolean }): Row[] {
  const nowSeconds = Date.now() / 1000;
  return keys.map((key) => ({
    ...toKeyTarget(key, dashboard),
    state: keyState(key, nowSeconds),
  }));
}
