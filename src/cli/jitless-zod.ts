import { config } from "zod/v4/core";

// Disables zod's compiled validators. They save time only after hundreds of values, but a command validates two or three. Must be imported
// before any module that creates a schema.
config({ jitless: true });
