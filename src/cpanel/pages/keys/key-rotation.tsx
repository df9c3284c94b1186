import { useState } from "react";
import type { ApiKey, NewKey } from "../../../shared/contract/keys.js";
import { KeyReveal } from "./key-reveal.js";
import { RotateKey } from "./rotate-key.js";
import "./keys.css";

interface KeyRotationProps {
  readonly apiKey: ApiKey;
  readonly onClose: () => void;
  readonly onRotated: () => Promise<void>;
}

/** Asks when the old key expires, replaces the key, and shows the new secret once. */
export function KeyRotation({ apiKey, onClose, onRotated }: KeyRotationProps) {
  const [created, setCreated] = useState<NewKey>();
  if (created) return <KeyReveal created={created} onStored={onClose} />;
  return (
    <RotateKey
      apiKey={apiKey}
      onClose={onClose}
      onRotated={(replacement) => {
        setCreated(replacement);
        void onRotated();
      }}
    />
  );
}
