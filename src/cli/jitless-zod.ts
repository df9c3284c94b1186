import { config } from "zod/v4/core";

// Disables zod's compiled validators, which save time only after hundreds of values. A command validates two or three values. This module
// must be imported before any module that creates a schema.
config({ jitless: true });
