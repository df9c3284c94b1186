/** The daemon's record of an installation, in the folder of each uploaded version. Never packed. */
export const installationFileName = ".installed.json";
