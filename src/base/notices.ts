// Defines notices: messages that the processes of one store exchange about once a second. Notices contain counts that
// need not be exact. A notice may arrive late or never, so correctness must not depend on notices. The caller provides
// the transport.

/** A subject about which processes exchange notices. */
export interface NoticeTopic {
  /** The news since the last call, as JSON data; undefined if there is no news. */
  collect(): unknown
  /** Handles the news that another process has collected. */
  receive(news: unknown): void
}

/** Milliseconds between two exchanges. */
export const noticesEveryMs = 1_000

/** The topics of one process. */
export class NoticeBoard {
  readonly #topics = new Map<string, NoticeTopic>()

  /** Adds a topic. `name` must be the same in all processes. */
  join(name: string, topic: NoticeTopic): void {
    this.#topics.set(name, topic)
  }

  /** The news of this process as JSON; undefined if there is no news. */
  collect(): string | undefined {
    const news: Record<string, unknown> = {}
    for (const [name, topic] of this.#topics) {
      const found = topic.collect()
      if (found !== undefined) news[name] = found
    }
    return Object.keys(news).length === 0 ? undefined : JSON.stringify(news)
  }

  /** Handles the news of another process. */
  receive(text: string): void {
    for (const [name, news] of Object.entries(JSON.parse(text) as Record<string, unknown>))
      this.#topics.get(name)?.receive(news)
  }
}
