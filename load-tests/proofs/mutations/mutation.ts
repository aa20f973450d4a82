/** One exact fragment of the sources or of the build, and its replacement. */
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
 * The outcome of a mutation. It is caught only by a named finding: a failed assertion of a named
 * test, or a named check of a verdict, on a copy that started cleanly. A text that is not found, a
 * file that does not load and a program that crashes show a broken mutant and prove no guard.
 */
export type MutationOutcome =
  | { readonly kind: 'caught'; readonly finding: string }
  | { readonly kind: 'missed' }
  | { readonly kind: 'broken'; readonly why: string };

/** A list of mutations and how each is tried. */
export type MutationTrial<M extends { readonly name: string }> = {
  readonly mutations: readonly M[];
  /** What the guards find without the mutation; it must be null. */
  control(mutation: M): Promise<string | null>;
  /** Applies the mutation to a copy and runs the guards. */
  run(mutation: M): Promise<MutationOutcome>;
};
