import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { builtModule } from '../../../runtime/project.js';
import type { Target } from './drive.js';

/** The bare node:http server as a process of its own; it ends with its standard input. */
export async function startYardstick(): Promise<{
  readonly process: ChildProcess;
  readonly target: Target;
}> {
  const child = spawn(process.execPath, [builtModule('load-tests/speed/load/yardstick')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [output] = (await once(child.stdout, 'data')) as [Buffer];
  const port = Number(output.toString());
  return { process: child, target: { port, host: '127.0.0.1', apiKey: 'none' } };
}
