/** Name of the file in which the daemon records an installation. The folder of each uploaded version contains this file. Never packed. */
export const installationFileName = ".installed.json";
