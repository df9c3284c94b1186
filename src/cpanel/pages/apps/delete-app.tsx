import { toPathSegments } from "../../../shared/package-name.js";
import { activeVersionOf } from "../../../shared/worker-versions.js";
import { ConfirmByName } from "../../components/confirm-by-name.js";
import { pluralize } from "../../components/pluralize.js";
import { useApi } from "../../live/use-api.js";
import { useResource } from "../../live/use-resource.js";
import { usePanel } from "../../use-panel.js";
import type { App } from "./app.js";
import { appOperations } from "./app-operations.js";
import { secretOperations } from "./secrets/secret-operations.js";

interface DeleteAppProps {
  readonly app: App;
  /** The version to delete; undefined deletes the app with all uploaded versions. */
  readonly version: string | undefined;
  readonly onClose: () => void;
  readonly onDeleted: () => Promise<void>;
}

/** Dialog that deletes an app or a version after the user has typed its name. */
export function DeleteApp({ app, version, onClose, onDeleted }: DeleteAppProps) {
  const api = useApi(appOperations);
  const { toasts, router } = usePanel();
  const what = version === undefined ? app.name : `${app.name}@${version}`;
  const isLast = version === undefined || app.versions.length === 1;
  const remove = async () => {
    const params = toPathSegments(app.name);
    if (version === undefined) await api.workers.remove({ params });
    else await api.workers.removeVersion({ params: { ...params, version } });
    toasts.say(`${what} is deleted.`);
    if (isLast) router.go("apps");
    await onDeleted();
  };
  return (
    <ConfirmByName
      title={`Delete ${what}?`}
      name={what}
      action={version === undefined ? "Delete app" : "Delete version"}
      onConfirm={remove}
      onClose={onClose}
    >
      <p>
        {version === undefined
          ? `${pluralize(app.versions.length, "version")} with all files are deleted permanently. `
          : "The version and its files are deleted permanently. "}
        {consequence(app, version)}
      </p>
      {isLast && <KeptSecrets app={app.name} />}
    </ConfirmByName>
  );
}

/** Reports that the daemon keeps the secrets of a deleted app, with the command that removes them. Hidden if the app has no secrets. Without the list, the sentence is general. */
function KeptSecrets({ app }: { readonly app: string }) {
  const api = useApi(secretOperations);
  const { data, error } = useResource(`secrets.${app}`, () => api.secrets.list({ params: toPathSegments(app) }));
  const hasSecrets = data ? data.secrets.some(({ source }) => source === "worker") : error !== undefined;
  if (!hasSecrets) return null;
  return (
    <p>
      {data ? "The secrets" : "Secrets"} of the app are kept, and the next upload with this name receives them. To remove one:{" "}
      <code>runtimectl secrets remove {app} NAME</code>
    </p>
  );
}

function consequence(app: App, version: string | undefined): string {
  const left = app.versions.filter((installed) => version !== undefined && installed.version !== version);
  const serving = activeVersionOf(left);
  if (serving) return `${serving.version} then serves /${app.name}/.`;
  return `/${app.name}/ then responds with 404.`;
}
