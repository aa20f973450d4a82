import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { z } from 'zod';
import { DependencyError } from '../../runtime/failure.js';
import type { Log } from '../../runtime/log.js';
import { builtModule } from '../../runtime/project.js';
import { supervise, type Running, type Supervised } from './supervise.js';

const STOP_TIMEOUT_MS = 15_000;

type Order = {
  readonly module: 'aggregator/main' | 'billing-api/main';
  readonly environment: NodeJS.ProcessEnv;
  readonly nodeOptions?: readonly string[];
};

type Program = Running & { readonly child: ChildProcess };

/**
 * Starts one of our programs in a separate process, so that it has its own core and can fail by
 * itself. It ends with this process, because the channel between them closes then. Its log lines go
 * to our standard error.
 */
function startProgram({ module, environment, nodeOptions = [] }: Order): Program {
  const child = fork(builtModule(module), [], {
    env: environment,
    execArgv: ['--enable-source-maps', ...nodeOptions],
    // A separate process group: Ctrl-C reaches only this process, which then ends the child.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  return {
    child,
    pid: child.pid ?? 0,
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  };
}

/** Keeps an aggregator running. */
export function superviseAggregator(
  environment: NodeJS.ProcessEnv,
  logger: Log,
): Promise<Supervised> {
  const nodeOptions = ['--max-old-space-size=2048'];
  const order: Order = { module: 'aggregator/main', environment, nodeOptions };
  return supervise('aggregator', () => Promise.resolve(startProgram(order)), { logger });
}

/** What billing-api tells the process that started it, once it listens. */
const listeningMessage = z.object({ port: z.number() });

export type SupervisedBillingApi = Supervised & {
  /** Where it listens; null while it does not run. */
  readonly origin: () => string | null;
  /** Resolves when it listens for the first time. @throws DependencyError when it ends before. */
  readonly listening: Promise<void>;
};

/**
 * Keeps billing-api running, on any free port of loopback: a port that it had before may have been
 * given to another program meanwhile.
 */
export async function superviseBillingApi(
  environment: NodeJS.ProcessEnv,
  logger: Log,
): Promise<SupervisedBillingApi> {
  let origin: string | null = null;
  let onListening: () => void = () => undefined;
  let onEnd: (error: Error) => void = () => undefined;
  const listening = new Promise<void>((resolve, reject) => {
    onListening = resolve;
    onEnd = reject;
  });
  const start = (): Promise<Running> => {
    const program = startProgram({ module: 'billing-api/main', environment });
    program.child.on('message', (message) => {
      origin = `http://127.0.0.1:${listeningMessage.parse(message).port}`;
      onListening();
    });
    void program.exited.then(() => {
      origin = null;
      const message = 'billing-api ended while it started: its last log line says why';
      const facts = { dependency: 'billing-api', isRetryable: false } as const;
      onEnd(new DependencyError(message, facts));
    });
    return Promise.resolve(program);
  };
  const supervised = await supervise('billing-api', start, { logger });
  // Whoever waits for it gets the error; nobody waits any more once it has listened.
  listening.catch(() => undefined);
  return { ...supervised, origin: () => origin, listening };
}
