/** The types of standard.mjs, for its test; see there. */
type Declared = {
  readonly constant: string;
  readonly file: string;
  readonly resource: object;
  readonly routes: object;
  readonly answers: object;
};
type Module = { readonly name: string; readonly text: string };
export function typesModule(declared: Declared): Module;
export function controllerModule(declared: Declared): Module;
