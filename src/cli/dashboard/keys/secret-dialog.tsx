import { Box } from "ink";
import { useState } from "react";
import { useDashboard } from "../session/hooks.js";
import { useKeyScope } from "../keyboard/key-dispatcher.js";
import type { OneTimeSecret } from "./one-time-secret.js";
import { SafeText } from "../components/safe-text.js";

interface Props {
  readonly secret: OneTimeSecret;
  readonly about: readonly string[];
  readonly onClose: () => void;
}

/** Shows a new API key once. The dialog closes when the user confirms that the key is stored elsewhere. */
export function SecretDialog({ secret, about, onClose }: Props) {
  const { copy } = useDashboard();
  const [isLeaving, setLeaving] = useState(false);
  const [isCopied, setCopied] = useState(false);
  useKeyScope({
    handlers: {},
    isModal: true,
    takeKey: (key) => {
      if (isLeaving && key === "y") onClose();
      else if (isLeaving) setLeaving(false);
      else if (key === "y") {
        copy(secret.text());
        setCopied(true);
      } else if (key === "esc" || key === "enter" || key === "q") setLeaving(true);
      return true;
    },
  });
  return (
    <Box flexDirection="column" paddingX={1}>
      <SafeText bold>This key is shown only once; the daemon stores only a hash of it</SafeText>
      <SafeText> </SafeText>
      <SafeText wrap="wrap" bold>
        {secret.text()}
      </SafeText>
      <SafeText> </SafeText>
      {about.map((line) => (
        <SafeText key={line}>{line}</SafeText>
      ))}
      {isLeaving ? (
        <SafeText color="red">Did you store the key? y: yes, close · any other key: back</SafeText>
      ) : (
        <SafeText>{`y ${isCopied ? "copied, if the terminal allows clipboard access" : "copy to the clipboard"} · esc close`}</SafeText>
      )}
    </Box>
  );
}
