/** Returns the text of a file by its relative path with forward slashes. Undefined if it does not exist. */
export type ReadText = (file: string) => Promise<string | undefined>;
