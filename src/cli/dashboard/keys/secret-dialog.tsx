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

/** Shows a key for the only time. Closes when somebody says that it is stored. */
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
      <SafeText bold>The key is shown this one time; the daemon keeps only a hash of it</SafeText>
      <SafeText> </SafeText>
      <SafeText wrap="wrap" bold>
        {secret.text()}
      </SafeText>
      <SafeText> </SafeText>
      {about.map((line) => (
        <SafeText key={line}>{line}</SafeText>
      ))}
      {isLeaving ? (
        <SafeText color="red">Is it stored? y: yes, never show it again · any other key: back</SafeText>
      ) : (
        <SafeText>{`y ${isCopied ? "copied, if the terminal lets it; again" : "copy to the terminal's clipboard"} · esc close`}</SafeText>
      )}
    </Box>
  );
}
