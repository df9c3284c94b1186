import { ApiError } from "../../shared/api-error.js";
import { checkLogOf } from "../../shared/check-log.js";
import type { ReactNode } from "react";
import { DaemonAwayError } from "../live/daemon-away-error.js";
import { Button } from "./button.js";
import "./error-note.css";

interface ErrorMessageProps {
  readonly error: unknown;
  /** Title such as `The change failed`. Hidden if it is unknown whether the daemon has carried out the request. */
  readonly title?: string;
  /** Removes the message. Undefined if the message disappears without an action of the user. */
  readonly onDismiss?: () => void;
  readonly children?: ReactNode;
}

/** Shows an error's message and code, the id of the request as in the daemon's log, and the last log lines of a rejected upload. */
export function ErrorMessage({ error, title, onDismiss, children }: ErrorMessageProps) {
  const { message, code, requestId } = factsOf(error);
  const isOutcomeUnknown = error instanceof DaemonAwayError && error.isOutcomeUnknown;
  const log = error instanceof ApiError ? checkLogOf(error) : [];
  // The button disappears together with the message. Without another focus, keyboard users would continue at the top of the page.
  const dismiss = () => {
    document.querySelector<HTMLElement>("main")?.focus();
    onDismiss?.();
  };
  return (
    <div className="error-note" role="alert">
      {title !== undefined && !isOutcomeUnknown && <p className="error-note-title">{title}</p>}
      <p>{message}</p>
      {(code !== undefined || requestId !== undefined) && (
        <p className="small">
          {code !== undefined && <code>{code}</code>}
          {requestId !== undefined && (
            <>
              {" "}
              request <code className="error-note-id">{requestId}</code>
            </>
          )}
        </p>
      )}
      {log.length > 0 && (
        <pre className="error-note-log" role="group" aria-label="Last log lines">
          {log.join("\n")}
        </pre>
      )}
      {children}
      {onDismiss && <Button onPress={dismiss}>Dismiss</Button>}
    </div>
  );
}

function factsOf(error: unknown): { message: string; code?: string | undefined; requestId?: string | undefined } {
  if (error instanceof ApiError) return { message: error.message, code: error.code, requestId: error.requestId };
  if (!(error instanceof Error)) return { message: "An unknown error occurred in the panel." };
  const { requestId } = error as { requestId?: unknown };
  return { message: error.message, requestId: typeof requestId === "string" ? requestId : undefined };
}
