/**
 * Says how this release turns records into rows. It is recorded with every batch that is begun, and
 * raised when the same records, catalog and known ids would give other rows: through decoding,
 * de-duplication, matching, minutes or encoding. An aggregator of a release that raises it finishes
 * a batch of an earlier release when both give the same rows but for usage (`Intent.digest`), or
 * when none of its rows is stored. Otherwise the partition halts, so such a release is rolled out
 * as docs/operations.md 10 says.
 */
export const FOLD_VERSION = 3;
