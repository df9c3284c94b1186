import { create } from "../../shared/contract/keys.js";
import { Button } from "../components/button.js";
import { ErrorMessage } from "../components/error-message.js";
import { useMutation } from "../components/use-mutation.js";
import { useApi } from "../live/use-api.js";
import { usePanel } from "../use-panel.js";
import { usePrincipal } from "./use-principal.js";
import "../layout/banner.css";

const operations = { keys: { create } };
const lifetime = "1d";

/** Warns about a session with the root key, and offers to replace it with a key that expires after one day. */
export function RootKeyWarning() {
  const { session, toasts } = usePanel();
  const { isRoot } = usePrincipal();
  const api = useApi(operations);
  const { isPending, error, run } = useMutation();
  if (isRoot !== true) return null;
  const replace = () =>
    run(async () => {
      const name = `panel ${new Date().toISOString().slice(0, 10)}`;
      const { data } = await api.keys.create({ body: { name, role: "admin", expiresIn: lifetime } });
      await session.signIn(data.key);
      toasts.say(`You are signed in with the key "${name}", which ends in a day.`);
    });
  return (
    <div className="banner banner-warn banner-stacked" role="status">
      <p>You are signed in with the root key, which never expires and cannot be revoked here.</p>
      <Button isPending={isPending} onPress={() => void replace()}>
        Use a key for one day instead
      </Button>
      {error !== undefined && <ErrorMessage title="The key was not created" error={error} />}
    </div>
  );
}
