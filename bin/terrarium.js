#!/usr/bin/env -S node --stack-size=3600
// The package's command. Inside the repository it runs the sources, which Node executes as they are. Queries may nest a
// thousand levels deep; the larger stack (in KiB) has room for them in code that has not been optimized yet.

import '../src/cli/main.ts'
