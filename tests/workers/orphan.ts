// A worker that has something to say to its supervisor just after that has been killed.

import { endWithSupervisor } from '../../src/cli/workers.ts'

endWithSupervisor()
const supervisor = process.ppid
process.stdout.write('ready\n')
// Without a turn of the event loop, which would tell that the supervisor is gone.
while (process.ppid === supervisor);
process.send?.('something')
setInterval(() => undefined, 1000)
