/** A log that was read before the present one, with its fixed number of partitions. */
export type PreviousLog = { readonly log: string; readonly partitionCount: number };

/**
 * Some ids of earlier logs: of some partitions of one log, or of all logs but the named ones, of
 * which nobody knows how many partitions they had.
 */
export type PreviousShard =
  | { readonly log: string; readonly partitions: readonly number[] }
  | { readonly otherThan: readonly string[] };

function greatestCommonDivisor(left: number, right: number): number {
  return right === 0 ? left : greatestCommonDivisor(right, left % right);
}

/**
 * Where the ids of earlier logs stand that can come again in one partition of the present log.
 *
 * Every log places an id by one hash h of its event key: in partition h mod m of a log with m
 * partitions, in h mod n of the present one. Both have the same remainder by every common divisor d
 * of m and n. Let d be the greatest common divisor. An id that comes to partition p can only stand
 * in those partitions of the earlier log that leave the remainder p mod d. That is one partition
 * when both logs have as many, and any partition when m and n have nothing in common.
 */
export function previousShardsOf(
  partition: number,
  present: { readonly log: string; readonly partitionCount: number },
  previous: readonly PreviousLog[],
): readonly PreviousShard[] {
  const known = previous.map(({ log, partitionCount }): PreviousShard => {
    const divisor = greatestCommonDivisor(partitionCount, present.partitionCount);
    const all = Array.from({ length: partitionCount }, (_, index) => index);
    const remainder = partition % divisor;
    return { log, partitions: all.filter((index) => index % divisor === remainder) };
  });
  return [...known, { otherThan: [present.log, ...previous.map(({ log }) => log)] }];
}
