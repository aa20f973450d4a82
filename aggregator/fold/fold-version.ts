/**
 * Version of the fold that this release applies, recorded with every intent. It is raised when the
 * same records, catalog and known ids would give other rows: decode, de-duplication, matching,
 * minutes and encoding all count. A release that raises it finishes what releases before began when
 * its own fold gives the same rows, or when nothing of the batch is stored; else the partition
 * halts, so such a release is rolled out as docs/operations.md 10 says.
 */
export const FOLD_VERSION = 3;
