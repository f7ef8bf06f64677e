// Notices are messages that the processes of one store exchange about once a second. The code that owns the board
// transports the notices, over the supervisor or PostgreSQL. A notice may arrive late or never, so correctness must not
// depend on notices.

export interface NoticeTopic {
  /** The news since the last call, as JSON data; undefined if there is no news. */
  collect(): unknown
  /** Handles the news that another process has collected. */
  receive(news: unknown): void
}

export const noticesEveryMs = 1_000

export class NoticeBoard {
  readonly #topics = new Map<string, NoticeTopic>()

  /** `name` must be the same in all processes. */
  join(name: string, topic: NoticeTopic): void {
    this.#topics.set(name, topic)
  }

  /** Returns undefined if there is no news. */
  collect(): string | undefined {
    const news: Record<string, unknown> = {}
    for (const [name, topic] of this.#topics) {
      const found = topic.collect()
      if (found !== undefined) news[name] = found
    }
    return Object.keys(news).length === 0 ? undefined : JSON.stringify(news)
  }

  receive(text: string): void {
    for (const [name, news] of Object.entries(JSON.parse(text) as Record<string, unknown>))
      this.#topics.get(name)?.receive(news)
  }
}
