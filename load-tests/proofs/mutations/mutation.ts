/** One exact fragment of the build and what stands there instead. */
export type Edit = {
  /** A file of the build, or a folder whose last file with the fragment is meant. */
  readonly path: string;
  readonly from: string;
  readonly to: string;
};

/** A rule of the design left out, on purpose, in a copy of the real build. */
export type Mutation = {
  readonly name: string;
  readonly edits: readonly Edit[];
  /** Beginning of the name of the scenario that must fail. */
  readonly scenario: string;
};
