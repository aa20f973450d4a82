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
  /** What it says before it kills itself, when that is what it is for. */
  readonly lastWords?: string;
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

/** The pause before a program that could not start is started again, as a supervisor would. */
const RESTART_PAUSE_MS = 300;
/** A minute and a half of them: engines that were killed are back within half a minute. */
const RESTARTS_MAX = 300;
/** Enough of the output to find the cause. */
const LAST_WORDS_MAX = 1_500;

/**
 * What programs say when they end by themselves because an engine is away at their start: the one
 * exit that the design allows. Programs that end on a bug say so with its stack.
 */
const COULD_NOT_START = /"level":60(?![^\n]*"stack":)[^\n]*"msg":"stopped"/;

/**
 * One process of the product under the control of the tests. It ends when we end it. One that
 * could not start because an engine was away is started again and counted; any other end is a
 * finding.
 */
export class Program {
  readonly exited: Promise<void>;
  /** How often it could not start and was started again. */
  restarts = 0;
  /** How it ended when nobody asked it to, with what it said last; null as long as it did not. */
  unexpectedEnd: string | null = null;
  #output = '';
  /** Where the output of the process that runs now begins. */
  #outputStart = 0;
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
      const whole = this.#output + String(chunk);
      this.#output = whole.slice(-OUTPUT_MAX);
      this.#outputStart = Math.max(0, this.#outputStart - (whole.length - this.#output.length));
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    living.add(child);
    return child;
  }

  async #live(): Promise<void> {
    for (;;) {
      // The output is complete when the process has gone and its pipes are closed.
      const [code] = (await once(this.#child, 'close')) as [number | null];
      living.delete(this.#child);
      const said = this.#output.slice(this.#outputStart);
      this.#output += `ended with ${code ?? 'a signal'}\n`;
      this.#outputStart = this.#output.length;
      if (this.#isOver || this.#isMeant(code, said)) return;
      this.unexpectedEnd = this.#findingOf(code, said);
      if (this.unexpectedEnd !== null) return;
      await delay(RESTART_PAUSE_MS);
      if (this.#isOver) return;
      this.restarts += 1;
      this.#child = this.#launch();
    }
  }

  /** What is wrong about an end that nobody asked for; null when it is to be started again. */
  #findingOf(code: number | null, said: string): string | null {
    const isOutage = code === 1 && COULD_NOT_START.test(said);
    if (isOutage && this.restarts < RESTARTS_MAX) return null;
    const how = isOutage ? `could not start ${this.restarts + 1} times` : 'ended by itself';
    const status = code === null ? 'by a signal' : `with status ${code}`;
    return `${this.order.name} ${how}, ${status}: ${said.slice(-LAST_WORDS_MAX)}`;
  }

  /** A crashing aggregator kills itself, after it has said where. */
  #isMeant(code: number | null, said: string): boolean {
    const { lastWords } = this.order;
    return code === null && lastWords !== undefined && said.includes(lastWords);
  }
}
