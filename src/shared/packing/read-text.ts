/** The text of a file of the folder, by its path with forward slashes; undefined when there is none. */
export type ReadText = (file: string) => Promise<string | undefined>;
