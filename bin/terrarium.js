#!/usr/bin/env node
// The package's command. Inside the repository it runs the sources, which Node executes as they are.

import '../src/cli/main.ts'
