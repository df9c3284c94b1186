/**
 * Name of the file in which the daemon records an installation. The folder of each uploaded version contains this file. Package archives
 * never contain it.
 */
export const installationFileName = ".installed.json";
