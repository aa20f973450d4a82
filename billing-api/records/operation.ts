import type { Occasion, Reading } from './occasion.js';
import type { Refusal } from './refusal.js';
import {
  readUnit,
  writeUnit,
  type ReadDependencies,
  type ReadUnit,
  type Unit,
  type WriteDependencies,
} from './unit.js';

/** An operation that is one reading unit and no more (`readUnit`). */
export function readOperation<Input extends readonly unknown[], Result>(
  work: (unit: ReadUnit, ...input: Input) => Promise<Result>,
) {
  return (
    dependencies: ReadDependencies,
    occasion: Reading,
    ...input: Input
  ): Promise<Result | Refusal> => readUnit(dependencies, occasion, (unit) => work(unit, ...input));
}

/** An operation that is one writing unit and no more (`writeUnit`). */
export function writeOperation<Input extends readonly unknown[], Result>(
  work: (unit: Unit, ...input: Input) => Promise<Result>,
) {
  return (
    dependencies: WriteDependencies,
    occasion: Occasion,
    ...input: Input
  ): Promise<Result | Refusal> => writeUnit(dependencies, occasion, (unit) => work(unit, ...input));
}
