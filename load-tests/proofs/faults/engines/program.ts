import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';

/** How a program of the product is started. */
export type ProgramOrder = {
  readonly name: string;
  /** Path of its built main module. */
  readonly module: string;
  readonly arguments?: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
};

const STOP_TIMEOUT_MS = 15_000;
const LISTEN_MS = 20;
const SAY_TIMEOUT_MS = 60_000;
const OUTPUT_MAX = 200_000;
/** What the aggregator says when stores contradict each other; no fault of ours may lead there. */
const HALT = /"reason":"(\w+)","msg":"partition stopped/;

const living = new Set<ChildProcess>();
// Whoever ends us in good order must not leave programs behind that write into removed stores.
process.on('exit', () => {
  for (const child of living) child.kill('SIGKILL');
});

/** Before one that ended by itself is started again, as a supervisor does. */
const RESTART_PAUSE_MS = 300;

/**
 * One process of the product, at the mercy of the tests. One that ends with an error of its own, as
 * a program does whose engine is away at its start, is started again.
 */
export class Program {
  readonly exited: Promise<void>;
  #output = '';
  #child: ChildProcess;
  #isOver = false;

  constructor(readonly order: ProgramOrder) {
    this.#child = this.#launch();
    this.exited = this.#live().finally(() => {
      this.#isOver = true;
    });
  }

  get isRunning(): boolean {
    return !this.#isOver;
  }

  /** What it printed. */
  get output(): string {
    return this.#output;
  }

  /** Why a partition stopped for an operator, or null. */
  get haltReason(): string | null {
    return HALT.exec(this.#output)?.[1] ?? null;
  }

  /** Whether the output holds the text before the program ends and the time is over. */
  async says(text: string, timeoutMs = SAY_TIMEOUT_MS): Promise<boolean> {
    const deadline = Date.now() + timeoutMs;
    while (!this.#output.includes(text) && this.isRunning && Date.now() < deadline) {
      await Promise.race([this.exited, delay(LISTEN_MS)]);
    }
    return this.#output.includes(text);
  }

  /** kill -9. */
  async kill(): Promise<void> {
    this.#isOver = true;
    this.#child.kill('SIGKILL');
    await this.exited;
  }

  freeze(): void {
    this.#child.kill('SIGSTOP');
  }

  thaw(): void {
    this.#child.kill('SIGCONT');
  }

  /** SIGTERM: it finishes what it is doing; killed when that takes too long. */
  async stop(): Promise<void> {
    this.#isOver = true;
    this.#child.kill('SIGCONT');
    this.#child.kill('SIGTERM');
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), STOP_TIMEOUT_MS);
    await this.exited;
    clearTimeout(timer);
  }

  #launch(): ChildProcess {
    const { module, environment } = this.order;
    const parameters = ['--enable-source-maps', module, ...(this.order.arguments ?? [])];
    const child = spawn(process.execPath, parameters, {
      env: { PATH: process.env['PATH'], ...environment },
      // A group of its own: Ctrl-C is for us.
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (chunk: unknown): void => {
      this.#output = (this.#output + String(chunk)).slice(-OUTPUT_MAX);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    living.add(child);
    return child;
  }

  async #live(): Promise<void> {
    for (;;) {
      const [code] = (await once(this.#child, 'exit')) as [number | null];
      living.delete(this.#child);
      this.#output += `ended with ${code ?? 'a signal'}\n`;
      if (this.#isOver || code === null || code === 0) return;
      await delay(RESTART_PAUSE_MS);
      if (this.#isOver) return;
      this.#child = this.#launch();
    }
  }
}
