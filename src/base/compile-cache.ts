// Where the runtime keeps what it has compiled of the program, if it may write there: the next start takes half of the time.
// Not in the folder for temporary files, where anybody could put code for others.

import { fileURLToPath } from 'node:url'

/** For `NODE_COMPILE_CACHE`, which an operator may set otherwise. */
export const compileCache = fileURLToPath(new URL('../../node_modules/.cache/terrarium', import.meta.url))
