import { drain, undrain } from "../../../shared/contract/instances.js";

export const instanceOperations = { instances: { drain, undrain } };
