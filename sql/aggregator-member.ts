/**
 * An aggregator process whose last heartbeat is older counts as dead: others get its partitions,
 * and a migration that copies rows may run.
 */
export const MEMBER_ALIVE_SECONDS = 5;
