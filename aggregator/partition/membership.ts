import { z } from 'zod';
import { noRows } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';

/** A member silent for longer is taken for dead and its partitions are shared anew. */
const ALIVE_SECONDS = 5;

const memberRow = z.object({ member_id: z.string() });
const beatMember = statement('beat-member', memberRow);
const leaveMember = statement('leave-member', noRows);

/** The list of living aggregator processes of one log, this one included. */
export function createMembership(database: Database, log: string, memberId: string) {
  return {
    memberId,
    /** Says that this process lives; returns the ids of all that do. @throws DependencyError. */
    beat: async (): Promise<readonly string[]> => {
      const parameters = { log, memberId, aliveSeconds: ALIVE_SECONDS };
      const others = await database.slonik.any(beatMember(parameters));
      return [memberId, ...others.map((row) => row.member_id)];
    },
    leave: async (): Promise<void> => {
      await database.slonik.query(leaveMember({ log, memberId }));
    },
  };
}
