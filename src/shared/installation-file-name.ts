/** The daemon's record of an installation, in the folder of each version that was uploaded. It is never packed. */
export const installationFileName = ".installed.json";
