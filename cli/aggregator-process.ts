import { fork } from 'node:child_process';
import { once } from 'node:events';
import { builtModule } from '../runtime/project.js';
import type { Running } from './supervise.js';

const STOP_TIMEOUT_MS = 15_000;

/**
 * Starts an aggregator in a separate process, so that it has its own core and can fail by itself.
 * It ends with this process, because the channel between them closes then. Its log lines go to our
 * standard error.
 */
export function startAggregator(environment: NodeJS.ProcessEnv): Promise<Running> {
  const child = fork(builtModule('aggregator/main'), [], {
    env: environment,
    execArgv: ['--enable-source-maps', '--max-old-space-size=2048'],
    // A separate process group: Ctrl-C reaches only this process, which then ends the child.
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const exited = once(child, 'exit').then(() => undefined);
  return Promise.resolve({
    pid: child.pid ?? 0,
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      const timer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
      await exited;
      clearTimeout(timer);
    },
  });
}
