/** One exact fragment of the sources or of the build, and what stands there instead. */
export type Edit = {
  /** A file, or a folder whose last file with the fragment is meant. */
  readonly path: string;
  readonly from: string;
  readonly to: string;
};

/** A rule that is left out or broken on purpose, in a copy. */
export type Mutation = {
  readonly name: string;
  readonly edits: readonly Edit[];
};

/**
 * What became of a mutation. It is caught only by a named finding: an assertion of a named test
 * that failed, or a named check of a verdict, on a copy that had started cleanly. A text not
 * found, a file that does not load and a program that crashes show a broken mutant, no guard.
 */
export type MutationOutcome =
  | { readonly kind: 'caught'; readonly finding: string }
  | { readonly kind: 'missed' }
  | { readonly kind: 'broken'; readonly why: string };

/** A list of mutations and how each is tried. */
export type MutationTrial<M extends { readonly name: string }> = {
  readonly mutations: readonly M[];
  /** What the guards find without the mutation; null when all is well, as it must be. */
  control(mutation: M): Promise<string | null>;
  /** Breaks a copy and asks the guards. */
  run(mutation: M): Promise<MutationOutcome>;
};
