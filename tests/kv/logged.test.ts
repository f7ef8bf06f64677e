// The suite on the logged engine.

import { join } from 'node:path'
import { openLogged } from '../../src/storage/log/logged-store.ts'
import { folderOfFile } from '../support/folder.ts'
import { storeSuite } from './suite.ts'

const folder = folderOfFile()
let folders = 0
const newPath = () => join(folder, String(folders++))

storeSuite('logged', () => openLogged({ path: newPath() }))
