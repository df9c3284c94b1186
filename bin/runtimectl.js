#!/usr/bin/env node
if (require("./check-node.js")("runtimectl")) void import("../dist/cli/main.js");
