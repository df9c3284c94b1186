import { config } from "zod/v4/core";

// Disables zod's compiled validators, which save time only after hundreds of values, because a command validates two or three. This module
// must be imported before a module that creates a schema.
config({ jitless: true });
