/** Lets the browser save a text as a file. `type` is the media type, such as `text/plain`. */
export function saveAs(text: string, name: string, type: string): void {
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}
