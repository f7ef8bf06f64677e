// A worker that sends a message to its supervisor just after the supervisor was killed.

import { endWithSupervisor } from '../../src/cli/workers.ts'

endWithSupervisor()
const supervisor = process.ppid
process.stdout.write('ready\n')
// Waits without a turn of the event loop, in which the worker would notice that the supervisor is gone.
while (process.ppid === supervisor);
process.send?.('something')
setInterval(() => undefined, 1000)
