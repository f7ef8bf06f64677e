// Opens and closes the store in a folder many times: `node lmdb-openers-child.ts FOLDER COUNT`.

import { openLmdb } from '../../src/storage/lmdb/lmdb.ts'

const [path = '', count = ''] = process.argv.slice(2)
for (let opened = 0; opened < Number(count); opened++) await openLmdb({ path, durable: false }).close()
