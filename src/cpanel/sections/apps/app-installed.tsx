import { Button } from "../../components/button.js";
import { useServedAt } from "../../live/use-served-at.js";
import { PanelLink } from "../../routing/panel-link.js";
import type { Installed } from "../../upload/upload-target.js";
import type { App } from "./app.js";
import { appUrl } from "./app-url.js";

/** Says where an app answers that was just installed. */
export function AppInstalled({ name, version, known: app, onClose }: Installed<App> & { readonly onClose: () => void }) {
  const servedAt = useServedAt();
  const isOff = app?.versions.some((installed) => installed.version === version && !installed.enabled) ?? false;
  const isServing = !app || app.serving?.version === version;
  const url = appUrl(servedAt, name, isServing ? undefined : version);
  return (
    <>
      <div role="status">
        {isOff && <p>It is off, as its manifest says. Enable it on the page of the app.</p>}
        {!isOff && (
          <p>
            It answers at{" "}
            <a href={url} target="_blank" rel="noreferrer">
              {url}
            </a>
            .{!isServing && ` /${name}/ is still answered by ${app.serving?.version}.`}
          </p>
        )}
      </div>
      <div className="modal-buttons">
        <PanelLink to={`apps/${name}`} className="upload-to-package" onClick={onClose}>
          Show {name}
        </PanelLink>
        <Button kind="primary" onPress={onClose} autoFocus>
          Close
        </Button>
      </div>
    </>
  );
}
