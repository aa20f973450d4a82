import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { drawFreePort } from '../../runtime/port.js';
import { builtModule, projectRoot } from '../../runtime/project.js';

/** One of our programs as a process of its own, on engines that run. */
export type StartedProgram = {
  readonly child: ChildProcess;
  readonly url: string;
  /** Where it shows its health and metrics. */
  readonly operationsUrl: string;
  readonly pid: number;
  /**
   * The values of one metric by its labels as text, `{}` when it has none. The label `program` is
   * left out, and the values of two programs on one port are added up.
   */
  metric(name: string): Promise<ReadonlyMap<string, number>>;
  /** SIGTERM, then waits for its end. */
  stop(): Promise<void>;
};

async function readMetric(url: string, name: string): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${url}/metrics`);
  const text = await response.text();
  const values = new Map<string, number>();
  for (const line of text.split('\n')) {
    const [, found, labels = '', value] = /^(\w+)(?:\{([^}]*)\})? (\S+)/.exec(line) ?? [];
    if (found !== name) continue;
    const others = labels.split(',').filter((label) => !label.startsWith('program='));
    const key = `{${others.join(',')}}`;
    values.set(key, (values.get(key) ?? 0) + Number(value));
  }
  return values;
}

/** What tests and measurements need of a process that serves `url`. */
export function programOf(child: ChildProcess, url: string, operationsUrl = url): StartedProgram {
  const exited = once(child, 'exit');
  return {
    child,
    url,
    operationsUrl,
    pid: child.pid ?? 0,
    metric: (name) => readMetric(url, name),
    stop: async () => {
      child.kill('SIGTERM');
      if (child.exitCode === null && child.signalCode === null) await exited;
    },
  };
}

/**
 * Starts a built program with these settings on a free port of loopback. It ends when this process
 * ends. Call `waitUntilReady` before you use it.
 * @param root of another release than this one.
 */
export async function startProgram(
  name: 'ingest' | 'aggregator' | 'billing-api',
  settings: Readonly<Record<string, string>>,
  root: string = projectRoot,
): Promise<StartedProgram> {
  const [port, metricsPort] = [await drawFreePort(), await drawFreePort()];
  const child = fork(builtModule(`${name}/main`, root), [], {
    env: {
      ...process.env,
      // billing-api needs one; the others leave it alone.
      MINUTEBOOK_TOKEN_SECRET: 'a secret for tests, of 32 characters',
      MINUTEBOOK_PORT: String(port),
      MINUTEBOOK_METRICS_PORT: String(metricsPort),
      // Tests ask for metrics as often as they like. The release before does not know the setting.
      ...(root === projectRoot ? { MINUTEBOOK_PUBLIC_RATE: '0' } : {}),
      // No load balancer has to notice its end.
      MINUTEBOOK_STOP_DELAY_MS: '0',
      ...settings,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const operationsUrl = `http://127.0.0.1:${metricsPort}`;
  const url = name === 'aggregator' ? operationsUrl : `http://127.0.0.1:${port}`;
  return programOf(child, url, operationsUrl);
}

/** The whole product as `npm start` runs it, as a process of its own, with these settings. */
export async function startWholeProduct(
  settings: Readonly<Record<string, string>>,
): Promise<StartedProgram> {
  const port = String(await drawFreePort());
  const child = fork(builtModule('cli/minutebook'), ['start'], {
    env: { ...process.env, MINUTEBOOK_PORT: port, MINUTEBOOK_PUBLIC_RATE: '0', ...settings },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const program = programOf(child, `http://127.0.0.1:${port}`);
  await waitUntilReady(program.url);
  return program;
}

const READY_TIMEOUT_MS = 60_000;

/** @throws Error when it is not ready within a minute. */
export async function waitUntilReady(url: string): Promise<void> {
  const deadline = performance.now() + READY_TIMEOUT_MS;
  while (performance.now() < deadline) {
    const isReady = await fetch(`${url}/readyz`).then(
      (response) => response.ok,
      () => false,
    );
    if (isReady) return;
    await delay(50);
  }
  throw new Error(`${url} did not become ready`);
}
