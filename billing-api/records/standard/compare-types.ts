/** True when two types have the same members, of types that can stand for each other. */
export type Same<Left, Right> = [keyof Left, keyof Right] extends [keyof Right, keyof Left]
  ? [Left, Right] extends [Right, Left]
    ? true
    : false
  : false;

/** Does not compile unless all of these are true. */
export type AllTrue<Each extends readonly true[]> = Each;
