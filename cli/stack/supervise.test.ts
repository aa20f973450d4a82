import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { createLog } from '../../runtime/log.js';
import { supervise, type Running } from './supervise.js';

const WAIT = { timeout: 10_000, interval: 10 };
const ASKING = { everyMs: 20, failuresMax: 3 };

/** A process that does nothing, and the answers that it is said to give. */
function startIdle(isAnswering: () => Promise<boolean>): Running {
  const child = spawn(process.execPath, ['-e', 'setInterval(() => undefined, 1000)']);
  const exited = once(child, 'exit').then(() => undefined);
  const stop = async (): Promise<void> => {
    child.kill('SIGTERM');
    await exited;
  };
  return { pid: child.pid ?? 0, exited, stop, isAnswering };
}

async function superviseIdle(answers: () => boolean) {
  const logger = createLog('supervise-test', 'silent');
  const error = vi.spyOn(logger, 'error');
  const start = () => Promise.resolve(startIdle(() => Promise.resolve(answers())));
  const supervised = await supervise('idle', start, { logger, asking: ASKING });
  onTestFinished(() => supervised.stop());
  return { supervised, said: () => error.mock.calls.map(([, message]) => message) };
}

test('a process that does not answer is killed and started again, and the log says so', async () => {
  let isWell = true;
  const { supervised, said } = await superviseIdle(() => isWell);
  const first = supervised.pid();
  await delay(ASKING.everyMs * 6);
  expect([supervised.pid(), said()]).toEqual([first, []]);
  isWell = false;
  await vi.waitFor(() => expect(supervised.pid()).not.toBe(first), WAIT);
  isWell = true;
  await vi.waitFor(() => expect(supervised.pid()).not.toBeNull(), WAIT);
  expect(said()).toEqual(['does not answer: it is killed and started again']);
});

test('a process that fails to answer now and then is left alone', async () => {
  let asked = 0;
  const { supervised, said } = await superviseIdle(() => (asked += 1) % ASKING.failuresMax === 0);
  const first = supervised.pid();
  await vi.waitFor(() => expect(asked).toBeGreaterThan(12), WAIT);
  expect([supervised.pid(), said()]).toEqual([first, []]);
});

test('a process that is being stopped in order is not killed for its silence', async () => {
  const { supervised, said } = await superviseIdle(() => false);
  await supervised.stop();
  expect(said()).toEqual([]);
});
