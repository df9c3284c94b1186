import * as keys from "../../../shared/contract/keys.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { PanelLink } from "../../router/panel-link.js";
import { KeyEnd } from "../keys/key-end.js";
import { keyState } from "../keys/key-state.js";

const operations = { keys: { list: keys.list } };
const mostShown = 5;

/** Lists keys that expire within 14 days or have expired. */
export function EndingKeys() {
  const api = useApi(operations);
  const { data = [] } = useResource("keys", async () => (await api.keys.list()).keys);
  const ending = data
    .filter((key) => keyState(key, Date.now() / 1000) !== "active")
    .toSorted((one, other) => (one.expiresAt ?? 0) - (other.expiresAt ?? 0));
  if (ending.length === 0) return null;
  return (
    <section className="card" aria-labelledby="overview-ending">
      <h2 id="overview-ending">Keys that end soon</h2>
      <ul className="ending">
        {ending.slice(0, mostShown).map((key) => (
          <li key={key.id}>
            <span>{key.name}</span>
            <span>
              <KeyEnd expiresAt={key.expiresAt} />
            </span>
          </li>
        ))}
      </ul>
      {ending.length > mostShown && <PanelLink to="keys">All {ending.length}</PanelLink>}
    </section>
  );
}
