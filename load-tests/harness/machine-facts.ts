import { execFileSync } from 'node:child_process';
import { cpus, loadavg, release, totalmem } from 'node:os';

function firstLineOf(command: string, parameters: readonly string[]): string {
  try {
    const output = execFileSync(command, parameters, { stdio: ['ignore', 'pipe', 'pipe'] });
    return output.toString().split('\n')[0] ?? '';
  } catch {
    return 'not there';
  }
}

/** The facts about the machine on which a measured figure depends. */
export function machineFacts(): readonly (readonly [string, string])[] {
  const processors = cpus();
  return [
    ['processor', `${processors.length} × ${processors[0]?.model ?? 'unknown'}`],
    ['memory', `${Math.round(totalmem() / 2 ** 30)} GiB`],
    ['kernel', release()],
    ['Node', process.version],
    ['commit', firstLineOf('git', ['rev-parse', '--short', 'HEAD'])],
    ['shares the cores', 'client, product and all engines, on loopback'],
    ['runnable processes in the last minute', (loadavg()[0] ?? 0).toFixed(1)],
  ];
}
