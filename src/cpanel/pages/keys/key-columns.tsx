import type { ApiKey } from "../../../shared/contract/keys.js";
import type { Principal } from "../../../shared/contract/principal.js";
import { RelativeTime } from "../../components/relative-time.js";
import { Badge } from "../../components/badge.js";
import type { Column } from "../../components/data-table.js";
import { AbsoluteTime } from "../../components/absolute-time.js";
import { RowActions } from "../../components/row-actions.js";
import { KeyEnd } from "./key-end.js";
import "./keys.css";

interface KeyColumnsOptions {
  readonly principal: Principal;
  readonly mayRevoke: boolean;
  readonly mayRotate: boolean;
  readonly onAsk: (action: "revoke" | "rotate", key: ApiKey) => void;
}

export function keyColumns({ principal, mayRevoke, mayRotate, onAsk }: KeyColumnsOptions): readonly Column<ApiKey>[] {
  const columns: Column<ApiKey>[] = [
    {
      id: "name",
      title: "Name",
      sortBy: ({ name }) => name.toLowerCase(),
      cell: ({ id, name, keyPrefix }) => (
        <>
          <span className="key-name">
            {name} {id === principal.id && <Badge tone="accent">this session</Badge>}
          </span>
          <code className="key-prefix">{keyPrefix}…</code>
        </>
      ),
    },
    { id: "role", title: "Role", shownFrom: "wide", sortBy: ({ role }) => role, cell: (key) => <KeyRole apiKey={key} /> },
    {
      id: "namespaces",
      title: "Namespaces",
      shownFrom: "widest",
      cell: ({ namespaces }) => (namespaces.includes("*") ? "all" : namespaces.join(", ")),
    },
    {
      id: "created",
      title: "Created",
      shownFrom: "widest",
      sortBy: ({ createdAt }) => createdAt,
      cell: ({ createdAt }) => <AbsoluteTime at={createdAt} />,
    },
    {
      id: "lastUsed",
      title: "Last used",
      shownFrom: "wide",
      sortBy: ({ lastUsedAt = 0 }) => lastUsedAt,
      cell: ({ lastUsedAt }) => (lastUsedAt === undefined ? <span className="quiet">never</span> : <RelativeTime at={lastUsedAt} />),
    },
    {
      id: "ends",
      title: "Expires",
      sortBy: ({ expiresAt = Infinity }) => expiresAt,
      cell: ({ expiresAt }) => <KeyEnd expiresAt={expiresAt} />,
    },
  ];
  if (!mayRevoke) return columns;
  const actions: Column<ApiKey> = {
    id: "actions",
    title: "Actions",
    isActions: true,
    cell: (key) =>
      key.id === principal.id ? (
        <span className="quiet small">used by this session, so it cannot be revoked here</span>
      ) : (
        <RowActions
          name={key.name}
          actions={[
            ...(mayRotate ? [{ title: "Rotate", icon: "restart", run: () => onAsk("rotate", key) } as const] : []),
            { title: "Revoke", icon: "delete", isDanger: true, run: () => onAsk("revoke", key) },
          ]}
        />
      ),
  };
  return [...columns, actions];
}

function KeyRole({ apiKey: { role, permissions } }: { apiKey: ApiKey }) {
  return role === "custom" ? <span title={permissions.join(", ")}>custom ({permissions.length})</span> : role;
}
