const byteOrderMark = "\uFEFF";

/** A text file in an editor, with plain line ends. */
export interface FileText {
  readonly text: string;
  /** Line end of the file. */
  readonly lineEnd: "\n" | "\r\n";
  readonly hasByteOrderMark: boolean;
  /** Whether writing the text back gives the same bytes; false for mixed line ends. */
  readonly isFaithful: boolean;
}

/** Undefined for bytes that are not text: not UTF-8, or with a zero byte. */
export function readText(bytes: Uint8Array): FileText | undefined {
  const raw = decode(bytes);
  if (raw === undefined || raw.includes("\0")) return undefined;
  const hasByteOrderMark = raw.startsWith(byteOrderMark);
  const lineEnd = raw.includes("\r\n") ? "\r\n" : "\n";
  const text = (hasByteOrderMark ? raw.slice(1) : raw).replaceAll(/\r\n?/g, "\n");
  const read = { text, lineEnd, hasByteOrderMark } as const;
  return { ...read, isFaithful: toBytesText(read) === raw };
}

/** Returns the text with the line ends and byte order mark of the file. */
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
