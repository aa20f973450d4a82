import { z } from 'zod';
import { MEMBER_ALIVE_SECONDS } from '../../sql/aggregator-member.js';
import { integerColumn } from '../../sql/columns.js';
import type { Database } from '../../sql/pool.js';
import { statement } from '../../sql/statement.js';
import type { Claim, Sharing } from './assign-partitions.js';

/** The channel on which processes tell each other to compute the assignment again. */
export const SHARING_CHANNEL = 'aggregator_sharing';

const memberRow = z.object({ member_id: z.string(), is_leaving: z.boolean() });
const holdingRow = z.object({
  owner: z.string().nullable(),
  kept_by: z.string().nullable(),
  next_offset: integerColumn,
});
const claimedRow = z.object({ partition: z.number() });
/** pg_notify returns void. */
const toldRow = z.object({ pg_notify: z.unknown() });

const beatMember = statement('beat-member', memberRow);
const listHoldings = statement('list-holdings', holdingRow);
const claimPartitions = statement('claim-partitions', claimedRow);
const releasePartition = statement('release-partition', toldRow);
const announceMember = statement('announce-member', toldRow);
const leaveMember = statement('leave-member', toldRow);

/** Who shares the partitions, and how far the checkpoint of each is. */
export type SharingView = Sharing & { readonly nextOffsets: readonly number[] };

/**
 * How the aggregator processes of one log know of each other: through PostgreSQL. Every method
 * throws a DependencyError when PostgreSQL fails.
 */
export function createMembership(database: Database, log: string, memberId: string) {
  const { slonik } = database;
  return {
    memberId,
    /** Records that this process is alive, or leaving, and reads who owns what. */
    beat: async (isLeaving: boolean): Promise<SharingView> => {
      const parameters = { log, memberId, isLeaving, aliveSeconds: MEMBER_ALIVE_SECONDS };
      const others = await slonik.any(beatMember(parameters));
      // Read after the beat, so that every owner in these rows was already listed as a member.
      const rows = await slonik.any(listHoldings({ log }));
      const all = [...others, { member_id: memberId, is_leaving: isLeaving }];
      const idsOf = (leaving: boolean): readonly string[] =>
        all.filter((row) => row.is_leaving === leaving).map((row) => row.member_id);
      return {
        members: idsOf(false),
        leaving: idsOf(true),
        holdings: rows.map((row) => ({ owner: row.owner, keptBy: row.kept_by })),
        nextOffsets: rows.map((row) => row.next_offset),
      };
    },
    /** Tells the others to compute the assignment now, not only at their next beat. */
    announce: async (): Promise<void> => {
      await slonik.query(announceMember({ log }));
    },
    /** Becomes the owner of those partitions whose owner is still the one that was seen. */
    claim: async (claims: readonly Claim[]): Promise<readonly number[]> => {
      const parameters = { log, memberId, claims: JSON.stringify(claims) };
      const claimed = await slonik.any(claimPartitions(parameters));
      return claimed.map((row) => row.partition);
    },
    /** Gives a partition up; `isKept` says that this process stays alive and keeps the filter. */
    release: async (partition: number, isKept: boolean): Promise<void> => {
      await slonik.query(releasePartition({ log, partition, memberId, isKept }));
    },
    leave: async (): Promise<void> => {
      await slonik.query(leaveMember({ log, memberId }));
    },
  };
}

export type Membership = ReturnType<typeof createMembership>;
