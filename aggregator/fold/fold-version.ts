/**
 * Version of the fold that this release applies, recorded with every intent. It is raised when the
 * same records, catalog and known ids would give other rows: decode, de-duplication, matching,
 * minutes and encoding all count. A release that raises it also ships the fold before, so that it
 * can finish intents of the release before; there is none before this one.
 */
export const FOLD_VERSION = 2;
