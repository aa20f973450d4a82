import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { builtModule } from '../../runtime/project.js';
import { isProcessAlive } from '../../runtime/process.js';

export type EngineProgram = {
  /** Built module and its exported function that starts an engine and returns its `pid`. */
  readonly module: string;
  readonly start: string;
  readonly directory: string;
};

/**
 * Starts an engine in a process of its own and kills that process with SIGKILL.
 * @returns the process id of the engine, whose owner is gone.
 */
export async function startAndAbandon(program: EngineProgram): Promise<number> {
  const code = `
    const { ${program.start} } = await import(${JSON.stringify(
      pathToFileURL(builtModule(program.module)).href,
    )});
    const engine = await ${program.start}({
      directory: ${JSON.stringify(program.directory)}, port: 0,
    });
    console.log(engine.pid);
    setInterval(() => undefined, 1000);`;
  const owner = spawn(process.execPath, ['--input-type=module', '--eval', code], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines = createInterface({ input: owner.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(owner, 'exit').then(() => ['0'])]);
  owner.kill('SIGKILL');
  await once(owner, 'exit');
  return Number(line);
}

/** Whether the process ends within the time. */
export async function endsWithin(pid: number, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline) {
    if (!isProcessAlive(pid)) return true;
    await delay(20);
  }
  return false;
}

export type UnreapedProcess = {
  /** Of a process that was killed and that its parent never asks about (state Z). */
  readonly pid: number;
  /** Ends the parent, and the process disappears. */
  readonly reap: () => Promise<void>;
};

/**
 * A killed process as it stays behind below a parent that reaps nothing. The parent was a shell,
 * which would reap it; it gives up its output at the moment when it becomes another program.
 */
export async function leaveUnreaped(): Promise<UnreapedProcess> {
  const script = 'sleep 600 >/dev/null & echo $!; exec sleep 600 >/dev/null';
  const parent = spawn('sh', ['-c', script], { stdio: ['ignore', 'pipe', 'inherit'] });
  const pid = Number(await text(parent.stdout));
  process.kill(pid, 'SIGKILL');
  const reap = async (): Promise<void> => {
    parent.kill('SIGKILL');
    await once(parent, 'exit');
  };
  return { pid, reap };
}
