// The suite on the logged engine.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { openLogged } from '../../src/storage/kv/log/logged-store.ts'
import { storeSuite } from './suite.ts'

const folder = mkdtempSync(join(tmpdir(), 'kv-'))
after(() => rmSync(folder, { recursive: true, force: true }))
let folders = 0
const newPath = () => join(folder, String(folders++))

storeSuite('logged', () => openLogged({ path: newPath() }))
