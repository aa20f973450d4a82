import { INSERT_STAGES } from '../fold/batch-tables.js';
import type { OutcomeOf } from '../protocol/expected-outcomes.js';
import type { Command, CommandOf, Outcome } from '../protocol/state.js';

/** What the batches of a flush do together. */
export type SharedCommand = CommandOf<'intend' | 'insert' | 'finish'>;

export function isShared(command: Command): command is SharedCommand {
  const { kind } = command;
  return kind === 'intend' || kind === 'insert' || kind === 'finish';
}

/** A command of one partition. */
export type Writing = { readonly partition: number; readonly command: SharedCommand };

/** What came of a command; the cause of an unknown outcome is null when nothing failed. */
export type Performance<Of extends Outcome = Outcome> = {
  readonly outcome: Of;
  readonly cause: Error | null;
};
export type SharedPerformance = Performance<OutcomeOf<SharedCommand['kind']>>;

/**
 * Performs commands of one kind (inserts: of one stage) for several partitions at once.
 * @throws errors that are no outages.
 */
export type WriteTogether = (
  writings: readonly Writing[],
) => Promise<ReadonlyMap<number, SharedPerformance>>;

/** The order in which the batches of a flush go: intent, the stages of inserts, finish. */
function rankOf(command: SharedCommand): number {
  if (command.kind === 'intend') return 0;
  if (command.kind === 'finish') return INSERT_STAGES.length + 1;
  const stage = INSERT_STAGES.findIndex((tables) => tables.includes(command.tables[0] ?? 'events'));
  return stage + 1;
}

type Waiting = {
  readonly writing: Writing;
  readonly resolve: (performance: SharedPerformance) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Batches of several partitions that one process writes together (docs/internals/architecture.md
 * 3.5). Each partition follows its own protocol; when all of them wait with a command, those that
 * are least far are performed at once. A partition whose batch is finished, or goes another way,
 * leaves.
 */
export class Flush {
  /** Resolves when the last partition has left. */
  readonly ended: Promise<void>;

  readonly #members: Set<number>;
  readonly #waiting = new Map<number, Waiting>();
  #end: () => void = () => undefined;

  constructor(
    partitions: Iterable<number>,
    private readonly writeTogether: WriteTogether,
  ) {
    this.#members = new Set(partitions);
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
  }

  /** Waits for the other partitions and performs a command with theirs. */
  write(partition: number, command: SharedCommand): Promise<SharedPerformance> {
    return new Promise((resolve, reject) => {
      this.#waiting.set(partition, { writing: { partition, command }, resolve, reject });
      this.#goOn();
    });
  }

  leave(partition: number): void {
    if (!this.#members.delete(partition)) return;
    if (this.#members.size === 0) this.#end();
    else this.#goOn();
  }

  #goOn(): void {
    if (this.#waiting.size < this.#members.size) return;
    const waiting = [...this.#waiting.values()];
    const least = Math.min(...waiting.map(({ writing }) => rankOf(writing.command)));
    const chosen = waiting.filter(({ writing }) => rankOf(writing.command) === least);
    for (const { writing } of chosen) this.#waiting.delete(writing.partition);
    void this.#perform(chosen);
  }

  async #perform(chosen: readonly Waiting[]): Promise<void> {
    try {
      const performed = await this.writeTogether(chosen.map(({ writing }) => writing));
      for (const { writing, resolve, reject } of chosen) {
        const performance = performed.get(writing.partition);
        if (performance === undefined) reject(new Error('a command without an outcome'));
        else resolve(performance);
      }
    } catch (error) {
      for (const { reject } of chosen) reject(error);
    }
  }
}
