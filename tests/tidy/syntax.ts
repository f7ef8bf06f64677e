// Reads the facts that the house rules need from syntax trees: imports, exports, blind casts, declared names, doc
// comments. The TypeScript compiler of the type check parses the trees. Fixtures are read in the same way as the
// sources.

import { posix } from 'node:path'
import { type AsExpression, type Node, type SourceFile, SyntaxKind } from 'typescript/unstable/ast'
import * as is from 'typescript/unstable/ast/is'
import { API } from 'typescript/unstable/sync'

/** An import, re-export or dynamic import. */
export interface Import {
  /** A path from the repository's root for a file of the repository, else the name of a package. */
  readonly target: string
  /** Removed when the types are stripped. */
  readonly isType: boolean
  /** The imported names; undefined for an import of the whole module. */
  readonly names: readonly string[] | undefined
}

export interface Declaration {
  readonly name: string
  readonly line: number
}

export interface NumberDeclaration extends Declaration {
  /** There is a comment directly before it, or before the preceding declarations without a blank line. */
  readonly hasSentence: boolean
}

/** A doc comment of a declaration, also of a member of a type, of a class or of an object. */
export interface DocComment {
  readonly line: number
  readonly text: string
  /** The declaration without its comments and its body, after the names of the declarations around it. */
  readonly declaration: string
}

/** A cast through `unknown` or `never`, which the type check cannot judge. */
export interface BlindCast {
  readonly line: number
  /** There is a line comment at the end of its line, or directly before the line or the statement. */
  readonly hasReason: boolean
}

export interface Syntax {
  readonly path: string
  readonly imports: readonly Import[]
  readonly exports: readonly Declaration[]
  readonly blindCasts: readonly BlindCast[]
  /** Every name that is declared in it: variables, functions, classes, types, members, parameters. */
  readonly declared: ReadonlySet<string>
  /** The constants of the module whose value is a number. */
  readonly numbers: readonly NumberDeclaration[]
  readonly docComments: readonly DocComment[]
  /** Generator functions and methods of object literals that are created whenever the code around them runs. */
  readonly nestedGenerators: readonly Declaration[]
}

/** A folder that exists in the compiler's view only. */
const root = '/tidy/'

/** Reads all of `texts`, which are by path from the repository's root. */
export function readSyntax(texts: ReadonlyMap<string, string>): readonly Syntax[] {
  const config = JSON.stringify({
    compilerOptions: {
      noResolve: true,
      noLib: true,
      types: [],
      module: 'nodenext',
      target: 'esnext',
      jsx: 'preserve',
    },
    files: [...texts.keys()],
  })
  const virtual = new Map([['tsconfig.json', config], ...texts])
  const find = (path: string) => (path.startsWith(root) ? virtual.get(path.slice(root.length)) : undefined)
  const api = new API({
    cwd: root,
    fs: {
      readFile: path => find(path) ?? null,
      fileExists: path => find(path) !== undefined,
      directoryExists: () => false,
      getAccessibleEntries: () => ({ files: [], directories: [] }),
      realpath: path => path,
    },
  })
  try {
    const project = api.updateSnapshot({ openProjects: [`${root}tsconfig.json`] }).getProjects()[0]
    if (!project) throw new Error('the compiler opened no project')
    return [...texts].map(([path, text]) => {
      const tree = project.program.getSourceFile(root + path)
      if (!tree) throw new Error(`the compiler does not know ${path}`)
      return new Reader(path, text, tree).read()
    })
  } finally {
    api.close()
  }
}

class Reader {
  readonly #path: string
  readonly #text: string
  readonly #tree: SourceFile
  readonly #lines: readonly string[]
  readonly #lineStarts: readonly number[]
  readonly #imports: Import[] = []
  readonly #exports: Declaration[] = []
  readonly #blindCasts: BlindCast[] = []
  readonly #declared = new Set<string>()
  readonly #numbers: NumberDeclaration[] = []
  readonly #docComments: DocComment[] = []
  readonly #nestedGenerators: Declaration[] = []

  constructor(path: string, text: string, tree: SourceFile) {
    this.#path = path
    this.#text = text
    this.#tree = tree
    this.#lines = text.split('\n')
    let start = 0
    this.#lineStarts = this.#lines.map(line => {
      const begin = start
      start += line.length + 1
      return begin
    })
  }

  read(): Syntax {
    for (const statement of this.#tree.statements) this.#statement(statement)
    this.#visit(this.#tree, '')
    return {
      path: this.#path,
      imports: this.#imports,
      exports: this.#exports,
      blindCasts: this.#blindCasts,
      declared: this.#declared,
      numbers: this.#numbers,
      docComments: this.#docComments,
      nestedGenerators: this.#nestedGenerators,
    }
  }

  #statement(statement: Node): void {
    if (is.isImportDeclaration(statement)) {
      const { importClause: clause, moduleSpecifier } = statement
      const bindings = clause?.namedBindings
      const isTypeClause = clause?.phaseModifier === SyntaxKind.TypeKeyword
      const elements = bindings && is.isNamedImports(bindings) ? bindings.elements : undefined
      const isType =
        isTypeClause ||
        (elements !== undefined && elements.length > 0 && elements.every(each => each.isTypeOnly))
      this.#import(
        moduleSpecifier,
        isType,
        elements?.map(each => (each.propertyName ?? each.name).getText(this.#tree)),
      )
    }
    if (is.isExportDeclaration(statement)) {
      const { exportClause: clause, moduleSpecifier, isTypeOnly } = statement
      const elements = clause && is.isNamedExports(clause) ? clause.elements : undefined
      const names = elements?.map(each => (each.propertyName ?? each.name).getText(this.#tree))
      if (moduleSpecifier) this.#import(moduleSpecifier, isTypeOnly, names)
      else for (const each of elements ?? []) this.#export(each.name.getText(this.#tree), each)
      return
    }
    const isExported = 'modifiers' in statement && hasExport(statement.modifiers)
    if (is.isVariableStatement(statement)) {
      for (const each of statement.declarationList.declarations) {
        const name = each.name.getText(this.#tree)
        if (isExported) this.#export(name, statement)
        if (each.initializer && isNumber(each.initializer))
          this.#numbers.push({
            name,
            line: this.#lineOf(each),
            hasSentence: this.#hasSentence(statement),
          })
      }
    } else if (isExported && 'name' in statement && statement.name) {
      this.#export((statement.name as Node).getText(this.#tree), statement)
    }
  }

  #import(specifier: Node, isType: boolean, names: readonly string[] | undefined): void {
    const text = specifier.getText(this.#tree).slice(1, -1)
    const target = text.startsWith('.') ? posix.join(posix.dirname(this.#path), text) : text
    this.#imports.push({ target, isType, names })
  }

  #export(name: string, at: Node): void {
    this.#exports.push({ name, line: this.#lineOf(at) })
  }

  /** `around`: the names of the declarations around the node. */
  #visit(node: Node, around: string): void {
    if (is.isAsExpression(node) && this.#isBlind(node)) {
      this.#blindCasts.push({ line: this.#lineOf(node), hasReason: this.#hasReason(node) })
    }
    if (is.isCallExpression(node) && node.expression.kind === SyntaxKind.ImportKeyword && node.arguments[0])
      this.#import(node.arguments[0], false, undefined)
    if (is.isImportTypeNode(node)) this.#import(firstChild(node.argument) ?? node.argument, true, undefined)
    if (isNestedGenerator(node))
      this.#nestedGenerators.push({ name: around.trim(), line: this.#lineOf(node) })
    let inside = around
    if ('name' in node && node.name && isDeclaration(node)) {
      const name = (node.name as Node).getText(this.#tree)
      this.#declared.add(name)
      inside = `${around} ${name}`
    }
    if (isDeclaration(node) || is.isVariableStatement(node) || is.isConstructorDeclaration(node))
      this.#docComment(node, around)
    node.forEachChild(child => this.#visit(child, inside))
  }

  #docComment(node: Node, around: string): void {
    const [, text] =
      /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\s*$/.exec(this.#text.slice(node.pos, node.getStart(this.#tree))) ?? []
    if (text === undefined) return
    const declaration = this.#text.slice(node.getStart(this.#tree), this.#headEnd(node)).replace(comments, '')
    this.#docComments.push({ line: this.#lineOf(node), text, declaration: `${around} ${declaration}` })
  }

  /** The end of the part of a declaration that says its name and types. A value often says them in its first line. */
  #headEnd(node: Node): number {
    if (is.isClassDeclaration(node) || is.isInterfaceDeclaration(node)) return node.members.pos
    const [first] = is.isVariableStatement(node) ? node.declarationList.declarations : []
    if (first) return this.#headEnd(first)
    if ('body' in node && node.body) return (node.body as Node).pos
    if (!('initializer' in node) || !node.initializer) return node.getEnd()
    const value = node.initializer as Node
    if ('body' in value && value.body) return this.#headEnd(value)
    return Math.min(node.getEnd(), this.#lineStarts[this.#lineOf(value)] ?? node.getEnd())
  }

  #isBlind({ expression, type }: AsExpression): boolean {
    if (type.getText(this.#tree) === 'never') return true
    return is.isAsExpression(expression) && /\bunknown\b/.test(expression.type.getText(this.#tree))
  }

  #lineOf(node: Node): number {
    return this.#lineAt(node.getStart(this.#tree))
  }

  #endLineOf(node: Node): number {
    return this.#lineAt(node.getEnd())
  }

  #lineAt(at: number): number {
    let line = this.#lineStarts.findIndex(start => start > at)
    if (line < 0) line = this.#lines.length
    return line
  }

  #hasCommentBefore(node: Node): boolean {
    return (this.#lines[this.#lineOf(node) - 2] ?? '').trim().startsWith('//')
  }

  /** Statements that follow one another without a blank line share the comment above the first. */
  #hasSentence(statement: Node): boolean {
    for (let line = this.#lineOf(statement); line > 1; ) {
      const above = this.#lines[line - 2]?.trim() ?? ''
      if (above === '' || above.startsWith('import ')) return false
      if (above.endsWith('*/') || above.startsWith('//')) return true
      const before = this.#tree.statements.find(each => this.#endLineOf(each) === line - 1)
      if (!before) return false
      line = this.#lineOf(before)
    }
    return false
  }

  /** The comment may be at the end of the line, above the line, or above the enclosing statement or member. */
  #hasReason(cast: Node): boolean {
    if (/\s\/\/ /.test(this.#lines[this.#lineOf(cast) - 1] ?? '')) return true
    for (let node: Node | undefined = cast; node; node = node.parent) {
      if (this.#hasCommentBefore(node)) return true
      if (isStatementOrMember(node)) return false
    }
    return false
  }
}

const comments = /\/\*[\s\S]*?\*\/|(?<=^|\s)\/\/.*$/gm

function hasExport(modifiers: unknown): boolean {
  return Array.isArray(modifiers) && modifiers.some(each => (each as Node).kind === SyntaxKind.ExportKeyword)
}

function isNumber(node: Node): boolean {
  if (is.isNumericLiteral(node) || is.isBigIntLiteral(node)) return true
  return is.isBinaryExpression(node) && isNumber(node.left) && isNumber(node.right)
}

function firstChild(node: Node): Node | undefined {
  let first: Node | undefined
  node.forEachChild(child => {
    first ??= child
  })
  return first
}

function isDeclaration(node: Node): boolean {
  return (
    is.isVariableDeclaration(node) ||
    is.isFunctionDeclaration(node) ||
    is.isClassDeclaration(node) ||
    is.isInterfaceDeclaration(node) ||
    is.isTypeAliasDeclaration(node) ||
    is.isMethodDeclaration(node) ||
    is.isMethodSignatureDeclaration(node) ||
    is.isPropertyDeclaration(node) ||
    is.isPropertySignatureDeclaration(node) ||
    is.isPropertyAssignment(node) ||
    is.isShorthandPropertyAssignment(node) ||
    is.isGetAccessorDeclaration(node) ||
    is.isSetAccessorDeclaration(node)
  )
}

function isStatementOrMember(node: Node): boolean {
  return (
    (is.isStatement(node) && !is.isBlock(node)) ||
    is.isMethodDeclaration(node) ||
    is.isPropertyDeclaration(node) ||
    is.isPropertyAssignment(node)
  )
}

function isNestedGenerator(node: Node): boolean {
  const isFunction =
    is.isFunctionDeclaration(node) || is.isFunctionExpression(node) || is.isMethodDeclaration(node)
  if (!isFunction || node.asteriskToken === undefined) return false
  const { parent } = node
  if (is.isMethodDeclaration(node)) return is.isObjectLiteralExpression(parent)
  return !is.isSourceFile(parent)
}
