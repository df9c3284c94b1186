/** `Content-Disposition` to save a file under a name (RFC 6266): a plain form for old clients, and the exact one (RFC 8187). */
export function attachmentNamed(filename: string): string {
  const plain = filename.replace(/[^\x20-\x7e]|["\\%]/g, "_");
  const exact = encodeURIComponent(filename).replace(/['()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`);
  return `attachment; filename="${plain}"; filename*=UTF-8''${exact}`;
}
