import { assertPresent } from '../../runtime/failure.js';
import { groupBy } from '../../runtime/group-by.js';

/**
 * Looks up the records of some owners among those of many, in the order of all of them: as if only
 * these owners' records had been read.
 */
export function recordsByOwner<Row>(
  rows: readonly Row[],
  ownerOf: (row: Row) => string,
): (owners: readonly string[]) => readonly Row[] {
  const places = groupBy(rows.keys(), (place) => ownerOf(at(rows, place)));
  return (owners) =>
    [...new Set(owners)]
      // Absent means none: the owner has no records.
      .flatMap((owner) => places.get(owner) ?? [])
      .toSorted((left, right) => left - right)
      .map((place) => at(rows, place));
}

function at<Row>(rows: readonly Row[], place: number): Row {
  return assertPresent(rows[place], 'a record');
}
