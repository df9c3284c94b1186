/** Name of the file in which the daemon records an installation. Each folder of an uploaded version contains one. Never packed. */
export const installationFileName = ".installed.json";
