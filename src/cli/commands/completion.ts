// Prints a script with which a shell completes commands and flags: lists from the declarations of commands, and a few
// lines in the language of the shell.

import { flagOf, UsageError } from '../../app/config/read-config.ts'
import { placeholderOf } from '../../app/config/settings.ts'
import { type Command, command, commandFlags, type Option } from '../command.ts'

/** Script generators by shell. */
export const completionScripts: Readonly<Record<string, (commands: readonly Command[]) => string>> = {
  bash,
  zsh,
  fish,
}

/** Returns undefined when any value is possible. */
function choicesOf(option: Option): readonly string[] | undefined {
  return option.kind === 'choice' ? option.choices : undefined
}

/** Second words of commands with two words, by first word. */
function groupsOf(commands: readonly Command[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>()
  for (const { name } of commands) {
    const [first = '', second] = name.split(' ')
    if (second !== undefined) groups.set(first, [...(groups.get(first) ?? []), second])
  }
  return groups
}

function firstWords(commands: readonly Command[]): readonly string[] {
  return [...new Set(commands.map(({ name }) => name.split(' ')[0] ?? '')), 'help']
}

/** Matches the first two words of a command line in a `case` statement of the shell. */
function patternOf({ name }: Command): string {
  return name.includes(' ') ? `"${name}")` : `"${name} "*)`
}

// If a flag or argument has no proposals, bash completes file names.
function bash(commands: readonly Command[]): string {
  const choices = new Map(
    commands.flatMap(commandFlags).flatMap(([name, option]) => {
      const texts = choicesOf(option)
      return texts ? [[`--${flagOf(name)}`, texts] as const] : []
    }),
  )
  const flags = (command: Command) =>
    [...commandFlags(command).map(([name]) => `--${flagOf(name)}`), '--help'].join(' ')
  return [
    '_terrarium() {',
    `  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} words=`,
    '  COMPREPLY=()',
    `  if [ "$COMP_CWORD" -eq 1 ]; then words="${firstWords(commands).join(' ')} --help --version"; fi`,
    `  case "$COMP_CWORD \${COMP_WORDS[1]}" in`,
    ...[...groupsOf(commands)].map(([first, seconds]) => `    "2 ${first}") words="${seconds.join(' ')}" ;;`),
    '  esac',
    '  case $before in',
    ...[...choices].map(([flag, texts]) => `    ${flag}) words="${texts.join(' ')}" ;;`),
    '  esac',
    `  case "$word" in -*) case "\${COMP_WORDS[1]} \${COMP_WORDS[2]}" in`,
    ...commands.map(command => `    ${patternOf(command)} words="${flags(command)}" ;;`),
    '  esac ;; esac',
    `  if [ -n "$words" ]; then COMPREPLY=($(compgen -W "$words" -- "$word")); fi`,
    '}',
    'complete -o bashdefault -o default -F _terrarium terrarium',
    '',
  ].join('\n')
}

function zsh(commands: readonly Command[]): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const escaped = (text: string) => text.replace(/[[\]:\\]/g, '\\$&')
  const described = (words: readonly (readonly [word: string, doc: string])[]) =>
    words.map(([word, doc]) => quote(`${word}:${escaped(doc)}`)).join(' ')
  const flag = ([name, option]: readonly [string, Option]) => {
    const text = `--${flagOf(name)}[${escaped(option.doc)}]`
    if (option.kind === 'switch') return quote(text)
    const texts = choicesOf(option)?.join(' ')
    const action = option.kind === 'path' ? '_files' : texts === undefined ? ' ' : `(${texts})`
    return quote(`${text}:${placeholderOf(name, option) ?? 'VALUE'}:${action}`)
  }
  const firsts = firstWords(commands).map(word => {
    const own = commands.find(({ name }) => name === word)?.summary
    return [word, own ?? (word === 'help' ? 'Explains a command.' : `Commands of ${word}.`)] as const
  })
  const seconds = (first: string) =>
    commands
      .filter(({ name }) => name.startsWith(`${first} `))
      .map(({ name, summary }) => [name.split(' ')[1] ?? '', summary] as const)
  return [
    '#compdef terrarium',
    '',
    '_terrarium() {',
    '  local -a names flags',
    `  if (( CURRENT == 2 )); then names=(${described(firsts)}); _describe command names; return; fi`,
    '  case "$CURRENT $words[2]" in',
    ...[...groupsOf(commands).keys()].map(
      first => `    "3 ${first}") names=(${described(seconds(first))}); _describe command names; return ;;`,
    ),
    '  esac',
    '  case "$words[2] $words[3]" in',
    ...commands.map(each => `    ${patternOf(each)} flags=(${commandFlags(each).map(flag).join(' ')}) ;;`),
    '  esac',
    `  _arguments $flags '--help[Explains the command.]' '*:argument:_files'`,
    '}',
    '',
    '_terrarium "$@"',
    '',
  ].join('\n')
}

function fish(commands: readonly Command[]): string {
  const quote = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`
  const lines = firstWords(commands).map(word => {
    const summary = commands.find(({ name }) => name === word)?.summary ?? ''
    return `complete -c terrarium -n __fish_use_subcommand -f -a ${word} -d ${quote(summary)}`
  })
  for (const command of commands) {
    const [first = '', second] = command.name.split(' ')
    const seen = [first, ...(second === undefined ? [] : [second])]
      .map(word => `__fish_seen_subcommand_from ${word}`)
      .join('; and ')
    if (second !== undefined) {
      const seconds = groupsOf(commands).get(first)?.join(' ')
      const open = `__fish_seen_subcommand_from ${first}; and not __fish_seen_subcommand_from ${seconds}`
      lines.push(`complete -c terrarium -n ${quote(open)} -f -a ${second} -d ${quote(command.summary)}`)
    }
    for (const [name, option] of commandFlags(command)) {
      const texts = choicesOf(option)
      const value = option.kind === 'switch' ? '' : option.kind === 'path' ? ' -r -F' : ' -x'
      const proposals = texts ? ` -a ${quote(texts.join(' '))}` : ''
      lines.push(
        `complete -c terrarium -n ${quote(seen)} -l ${flagOf(name)}${value}${proposals} -d ${quote(option.doc)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}

/** `commands` is a function, because the table that it returns also contains this command. */
export function completionCommand(commands: () => readonly Command[]): Command {
  return command({
    name: 'completion',
    summary: 'Prints a script for the completion of commands and flags in a shell.',
    operands: [{ name: 'SHELL', doc: `Name of the shell: ${Object.keys(completionScripts).join(', ')}.` }],
    examples: [
      ['completion bash > ~/.local/share/bash-completion/completions/terrarium', 'For bash:'],
      ['completion zsh > ~/.zfunc/_terrarium', 'For zsh, with ~/.zfunc in $fpath:'],
      ['completion fish > ~/.config/fish/completions/terrarium.fish', 'For fish:'],
    ],
    async run({ operands: [shell = ''] }) {
      const script = Object.hasOwn(completionScripts, shell) ? completionScripts[shell] : undefined
      if (!script) throw new UsageError(`there is no completion for the shell "${shell}"`)
      process.stdout.write(script(commands()))
      return 0
    },
  })
}
