import { useEffect, useState } from "react";
import { Button } from "../components/button.js";
import { Modal } from "../components/modal.js";
import { useObserved } from "../live/use-observed.js";
import { usePanel } from "../use-panel.js";
import { SignInForm } from "./sign-in-form.js";
import "../layout/banner.css";

/** Remaining time of the session at which the warning appears. */
const warningSeconds = 5 * 60;
const lookMs = 5000;

/** Warns 5 minutes before the session expires, and offers to sign in again without leaving the page. */
export function SessionWarning() {
  const { session } = usePanel();
  const state = useObserved(session.state);
  const [isRenewing, setRenewing] = useState(false);
  const endsAt = state.phase === "signed-in" ? state.endsAt : undefined;
  const leftSeconds = useSecondsLeft(endsAt);
  useEffect(() => {
    if (leftSeconds !== undefined && leftSeconds <= 0) session.end();
  }, [leftSeconds, session]);
  if (state.phase !== "signed-in" || state.hasEnded || leftSeconds === undefined || leftSeconds > warningSeconds) return null;
  return (
    <>
      <div className="banner banner-warn" role="status">
        <p>Your session ends {leftSeconds < 60 ? "in less than a minute" : `in ${Math.ceil(leftSeconds / 60)} minutes`}.</p>
        <Button onPress={() => setRenewing(true)}>Sign in again</Button>
      </div>
      {isRenewing && (
        <Modal title="Sign in again" onClose={() => setRenewing(false)}>
          <SignInForm onSignedIn={() => setRenewing(false)} />
        </Modal>
      )}
    </>
  );
}

function useSecondsLeft(endsAt: number | undefined): number | undefined {
  const [nowMs, setNowMs] = useState(Date.now);
  useEffect(() => {
    if (endsAt === undefined) return undefined;
    const timer = setInterval(() => setNowMs(Date.now()), lookMs);
    return () => clearInterval(timer);
  }, [endsAt]);
  return endsAt === undefined ? undefined : endsAt - nowMs / 1000;
}
