import { pluginsRunAsDaemon, rolePermissions } from "../../../shared/permissions.js";
import { endText } from "../../components/absolute-time.js";
import { endOf, namespacesOf, type KeyFormState } from "./key-form-state.js";

/** Describes the new key in one sentence, so that the user can find mistakes before the key is created. */
export function KeySummary({ draft }: { draft: KeyFormState }) {
  const namespaces = namespacesOf(draft);
  const nowSeconds = Date.now() / 1000;
  const end = endOf(draft, nowSeconds);
  const rights = draft.role === "custom" ? `may have ${draft.permissions.join(", ") || "no permission yet"}` : `has the role ${draft.role}`;
  const runsPlugins =
    draft.role === "custom" ? draft.permissions.includes("plugins:install") : rolePermissions[draft.role].includes("plugins:install");
  return (
    <p className="key-summary" role="status">
      {draft.name.trim() || "The key"} {rights} in{" "}
      {namespaces.includes("*") ? "all namespaces" : namespaces.join(", ") || "no namespace yet"}
      {end === "malformed" ? "" : end === undefined ? ", without an end" : ` until ${endText(end, nowSeconds)}`}.
      {runsPlugins && ` ${pluginsRunAsDaemon}`}
    </p>
  );
}
