// The package for programs in CommonJS, and for test runners with a module loader of their own. Published without a
// build.

const { constants, Script } = require('node:vm')

/** Jest replaces Node's loader by one that rejects ES modules; a script uses Node's own. */
async function load() {
  try {
    return await import('../dist/program/index.js')
  } catch (error) {
    if (error.code !== 'ERR_VM_DYNAMIC_IMPORT_CALLBACK_MISSING_FLAG') throw error
    const importModuleDynamically = constants.USE_MAIN_CONTEXT_DEFAULT_LOADER
    const script = new Script("import('../dist/program/index.js')", {
      filename: __filename,
      importModuleDynamically,
    })
    return script.runInThisContext()
  }
}

module.exports = {
  createServer: async options => {
    const { createServer } = await load()
    return createServer(options)
  },
}
