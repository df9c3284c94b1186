import { config } from "zod/v4/core";

// Disables zod's compiled validators: they are faster only after hundreds of values, and a command validates two or three. Must be loaded
// before any schema is created.
config({ jitless: true });
