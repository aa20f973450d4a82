export type FairQueueLimits = {
  /** Requests of an environment that run at once. */
  readonly runningMax: number;
  /** Requests of one caller that wait. */
  readonly waitingMax: number;
  readonly waitMs: number;
};

/** How waiting ends: `late` after the longest wait, `full` at once, `left` when the client left. */
export type Turn = 'granted' | 'late' | 'full' | 'left';

/** A request in the queue. */
export type Place = {
  readonly turn: Promise<Turn>;
  /** Gives up a place that still waits; no effect on one that was granted. */
  readonly leave: () => void;
  /** Ends a granted turn, once. */
  readonly done: () => void;
};

type Waiting = { readonly settle: (turn: Turn) => void };

/**
 * Lets a few requests of one environment run at once. The others wait, each caller in a line of its
 * own, and the lines take turns, so that a caller who sends many delays the others little.
 */
export class FairQueue {
  #running = 0;
  /** By caller, in the order of their turns. */
  readonly #lines = new Map<string, Waiting[]>();

  constructor(private readonly limits: FairQueueLimits) {}

  get isIdle(): boolean {
    return this.#running === 0 && this.#lines.size === 0;
  }

  enter(caller: string): Place {
    let isRunning = false;
    const done = (): void => {
      if (!isRunning) return;
      isRunning = false;
      this.#running -= 1;
      this.#grantNext();
    };
    const start = (turn: Turn): Turn => {
      isRunning = turn === 'granted';
      return turn;
    };
    if (this.#running < this.limits.runningMax) {
      this.#running += 1;
      return { turn: Promise.resolve(start('granted')), leave: () => undefined, done };
    }
    const { turn, leave } = this.#wait(caller, start);
    return { turn, leave, done };
  }

  #wait(caller: string, start: (turn: Turn) => Turn): Pick<Place, 'turn' | 'leave'> {
    const line = this.#lines.get(caller) ?? [];
    if (line.length >= this.limits.waitingMax) {
      return { turn: Promise.resolve('full'), leave: () => undefined };
    }
    let leave = (): void => undefined;
    const turn = new Promise<Turn>((resolve) => {
      const late = setTimeout(() => end('late'), this.limits.waitMs);
      const waiting: Waiting = {
        settle: (outcome) => {
          clearTimeout(late);
          resolve(start(outcome));
        },
      };
      const end = (outcome: Turn): void => {
        if (this.#remove(caller, waiting)) waiting.settle(outcome);
      };
      leave = () => end('left');
      line.push(waiting);
      this.#lines.set(caller, line);
    });
    return { turn, leave };
  }

  /** False when the request does not wait any more. */
  #remove(caller: string, waiting: Waiting): boolean {
    const line = this.#lines.get(caller);
    const at = line?.indexOf(waiting) ?? -1;
    if (line === undefined || at === -1) return false;
    line.splice(at, 1);
    if (line.length === 0) this.#lines.delete(caller);
    return true;
  }

  #grantNext(): void {
    const [next] = this.#lines;
    if (next === undefined) return;
    const [caller, line] = next;
    const waiting = line.shift();
    // The caller's next request comes after those of all other callers.
    this.#lines.delete(caller);
    if (line.length > 0) this.#lines.set(caller, line);
    this.#running += 1;
    waiting?.settle('granted');
  }
}
