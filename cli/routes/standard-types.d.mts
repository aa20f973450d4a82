/** The types of standard-types.mjs, for its test; see there. */
export type Declared = {
  readonly constant: string;
  readonly file: string;
  readonly resource: object;
  readonly routes: object;
  readonly answers: object;
};
export type Module = { readonly name: string; readonly text: string };
export function typesModule(declared: Declared): Module;
