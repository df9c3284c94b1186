import { config } from "zod/v4/core";

// Disables zod's compiled validators, which save time only after hundreds of values; a command validates two or three. Import this module
// before any schema is created.
config({ jitless: true });
