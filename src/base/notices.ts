// What the processes that serve one database tell each other about once a second: counts that need not be exact. A notice
// may come late or never, so nothing may rest on one. How they travel is not this file's matter.

/** Something that processes tell each other about. */
export interface NoticeTopic {
  /** What is new since the last call, as JSON can hold it; undefined when nothing is. */
  collect(): unknown
  /** Takes what another process has collected. */
  receive(news: unknown): void
}

/** Milliseconds between two exchanges. */
export const noticesEveryMs = 1_000

/** The topics of one process. */
export class NoticeBoard {
  readonly #topics = new Map<string, NoticeTopic>()

  /** Adds a topic; processes know it by its name. */
  join(name: string, topic: NoticeTopic): void {
    this.#topics.set(name, topic)
  }

  /** What this process has to tell; undefined when that is nothing. */
  collect(): string | undefined {
    const news: Record<string, unknown> = {}
    for (const [name, topic] of this.#topics) {
      const found = topic.collect()
      if (found !== undefined) news[name] = found
    }
    return Object.keys(news).length === 0 ? undefined : JSON.stringify(news)
  }

  /** Takes what another process has collected. */
  receive(text: string): void {
    for (const [name, news] of Object.entries(JSON.parse(text) as Record<string, unknown>))
      this.#topics.get(name)?.receive(news)
  }
}
