import { describe, expect, it } from 'vitest';
import {
  cpuSecondsOf,
  highWaterOf,
  memoryOf,
  partOf,
  productProcesses,
  resetHighWater,
  statFrom,
} from './processes.js';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

const isLinux = process.platform === 'linux';

describe('the processes of the product', () => {
  it.each([
    ['node /p/dist/cli/minutebook.js start', 'ingest'],
    ['node --enable-source-maps /p/dist/aggregator/main.js', 'aggregator'],
    ['node /p/dist/ingest/main.js', 'ingest'],
    ['node /p/dist/clickhouse/embedded-server.js /d/server-order.json', 'clickhouse'],
    ['postgres: checkpointer', 'postgres'],
    ['java -cp jars/* kafka.Kafka /d/server.properties', 'kafka'],
    ['node /p/dist/load-tests/speed/load/yardstick.js', null],
    ['sh -c read _; kill -9 "$1"', 'other'],
  ])('knows the part of %s', (commandLine, part) => {
    expect(partOf(commandLine)).toBe(part);
  });

  it('adds up the CPU time of a process and of its ended children, whatever its name', () => {
    const text = '12 (a (b) c) S 7 1 1 0 -1 4 1 2 3 4 50 20 5 3 20 0 1 0';
    expect(statFrom(text)).toEqual({ parent: 7, ticks: 78 });
  });

  it.runIf(isLinux)(
    'finds them below a process, and the greatest memory since a reset',
    async () => {
      const script = `
      let big = Buffer.alloc(200 * 2 ** 20, 1);
      process.stdin.once('data', () => { big = null; globalThis.gc(); console.log('freed'); });
      console.log('filled');`;
      const child = spawn(process.execPath, ['--expose-gc', '-e', script]);
      try {
        await once(child.stdout, 'data');
        const pid = child.pid ?? 0;
        const found = await productProcesses(process.pid);
        expect(found).toContainEqual({ pid, part: 'other' });
        expect((await cpuSecondsOf(found)).get('other')).toBeGreaterThan(0);
        expect((await memoryOf(pid))?.resident).toBeGreaterThan(200);
        child.stdin.write('free\n');
        await once(child.stdout, 'data');
        expect(await highWaterOf(pid)).toBeGreaterThan(200);
        await resetHighWater(pid);
        expect(await highWaterOf(pid)).toBeLessThan(200);
      } finally {
        child.kill();
      }
    },
  );
});
