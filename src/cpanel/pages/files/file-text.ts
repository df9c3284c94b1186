const byteOrderMark = "\uFEFF";

/** A text file as the editor shows it, with `\n` as the only line ending in `text`. */
export interface FileText {
  readonly text: string;
  /** Line ending in the stored file. */
  readonly lineEnd: "\n" | "\r\n";
  readonly hasByteOrderMark: boolean;
  /** Whether saving the unchanged text produces the original bytes. False for mixed line endings. */
  readonly isFaithful: boolean;
}

/** Decodes the bytes of a text file. Returns undefined if the bytes are not UTF-8 or contain a zero byte. */
export function readText(bytes: Uint8Array): FileText | undefined {
  const raw = decode(bytes);
  if (raw === undefined || raw.includes("\0")) return undefined;
  const hasByteOrderMark = raw.startsWith(byteOrderMark);
  const lineEnd = raw.includes("\r\n") ? "\r\n" : "\n";
  const text = (hasByteOrderMark ? raw.slice(1) : raw).replaceAll(/\r\n?/g, "\n");
  const read = { text, lineEnd, hasByteOrderMark } as const;
  return { ...read, isFaithful: toBytesText(read) === raw };
}

/** Returns the text to store, with the line endings and the byte order mark of the original file. */
export function toBytesText({ text, lineEnd, hasByteOrderMark }: Omit<FileText, "isFaithful">): string {
  return (hasByteOrderMark ? byteOrderMark : "") + (lineEnd === "\n" ? text : text.replaceAll("\n", lineEnd));
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
