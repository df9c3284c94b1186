import { useServedAt } from "../../live/use-served-at.js";
import { InstalledButtons } from "../../upload/installed-buttons.js";
import type { Installed } from "../../upload/upload-target.js";
import type { App } from "./app.js";
import { appUrl } from "./app-url.js";

/** Shows the result of an upload: the URL of the app, or a note that the uploaded version is disabled. */
export function AppInstalled({ name, version, known: app, onClose }: Installed<App> & { readonly onClose: () => void }) {
  const servedAt = useServedAt();
  const isOff = app?.versions.some((installed) => installed.version === version && !installed.enabled) ?? false;
  const isServing = !app || app.serving?.version === version;
  const url = appUrl(servedAt, name, isServing ? undefined : version);
  return (
    <>
      <div role="status">
        {isOff && <p>The version is disabled by its manifest. Enable it on the page of the app.</p>}
        {!isOff && (
          <p>
            It is served at{" "}
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
            .{!isServing && ` /${name}/ is still answered by ${app.serving?.version}.`}
          </p>
        )}
      </div>
      <InstalledButtons name={name} page={`apps/${name}`} onClose={onClose} />
    </>
  );
}
