import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { endsWithin, leaveUnreaped } from './abandoned-process.js';
import { findLiveOwner, isProcessAlive, markOwner } from '../../runtime/process.js';

async function directory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'minutebook-owner-'));
  onTestFinished(() => rm(path, { recursive: true, force: true }));
  return path;
}

describe('a process', () => {
  test('that runs is alive, and owns its directory', async () => {
    const path = await directory();
    expect(isProcessAlive(process.pid)).toBe(true);
    expect(isProcessAlive(1)).toBe(true);
    await markOwner(path);
    expect(await findLiveOwner(path)).toBe(process.pid);
  });

  test.runIf(process.platform === 'linux')(
    'that was killed is not alive, also while its parent has not asked about it',
    async () => {
      const { pid, reap } = await leaveUnreaped();
      onTestFinished(reap);
      const path = await directory();
      await writeFile(join(path, 'owner.pid'), `${pid}\n`);
      expect(await endsWithin(pid, 2_000)).toBe(true);
      // Its id still belongs to it.
      expect(() => process.kill(pid, 0)).not.toThrow();
      expect(await findLiveOwner(path)).toBeNull();
    },
  );
});
