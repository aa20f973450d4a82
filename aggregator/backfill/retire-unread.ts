import type { CommonQueryMethods } from 'slonik';
import { z } from 'zod';
import { statement } from '../../sql/statement.js';

/** Versions retired at a time; the rest follow with the next call. */
const RETIRED_MAX = 100;

const retireVersions = statement('retire-unread-meter-versions', z.object({ retired: z.number() }));

/** Retires versions of meters that nobody has read for these hours, some at a time. */
export async function retireUnread(
  tx: Pick<CommonQueryMethods, 'one'>,
  hours: number,
): Promise<{ readonly retired: number; readonly hasMore: boolean }> {
  const { retired } = await tx.one(retireVersions({ hours, versionsMax: RETIRED_MAX }));
  return { retired, hasMore: retired === RETIRED_MAX };
}
