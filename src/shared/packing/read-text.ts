/** Returns the text of a file. The path is relative, with forward slashes. Undefined if the file does not exist. */
export type ReadText = (file: string) => Promise<string | undefined>;
