import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect } from 'vitest';
import { test } from '../../load-tests/harness/fixtures.js';
import { createLog } from '../../runtime/log.js';
import { ensureProgramsLogin, withLogin } from '../../sql/programs-role.js';
import { MEMBER_ALIVE_SECONDS } from '../../sql/aggregator-member.js';
import { startHeart } from './heart.js';
import { createMembership } from './membership.js';

const LOG = 'log';
/** Threads read no TypeScript; the tests compile the product first. */
const THREAD = new URL('../../dist/aggregator/ownership/heart-thread.js', import.meta.url);
const logger = createLog('test', 'silent');

/** Computes without pause, as the fold of a large batch does. */
function block(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}

describe('the heart of an aggregator', () => {
  test('beats while the program computes for longer than others wait, but not for ever', async ({
    database: { url, database },
  }) => {
    // As the product's own programs log in: the login has no rights before it takes their role.
    const login = {
      user: `heart_${randomBytes(6).toString('hex')}`,
      password: randomBytes(6).toString('hex'),
    };
    await ensureProgramsLogin(url, login);
    const databaseUrl = withLogin(url, login);
    const join = async (memberId: string, silenceMaxMs?: number) => {
      const membership = createMembership(database, LOG, memberId);
      await membership.beat(false);
      if (silenceMaxMs === undefined) return { membership, close: () => Promise.resolve() };
      const member = { databaseUrl, log: LOG, memberId };
      const heart = startHeart(member, { thread: THREAD, logger, silenceMaxMs });
      return { membership, close: heart.close };
    };
    const busy = await join('busy', 60_000);
    const stuck = await join('stuck', 2_500);
    await join('without a heart');
    // The threads open their sessions.
    await delay(1_500);
    block((MEMBER_ALIVE_SECONDS + 2) * 1_000);
    const other = createMembership(database, LOG, 'other');
    expect([...(await other.beat(false)).members].sort()).toEqual(['busy', 'other']);

    // A member that has left does not come back by a beat.
    await busy.membership.leave();
    await delay(1_500);
    expect((await other.beat(false)).members).toEqual(['other']);
    await Promise.all([busy.close(), stuck.close()]);
  });
});
