import fc from 'fast-check';

const LEAVES = ['v', 'w', 'properties["v"]', "properties['w x']", '0', '1', '2.5', '1e3', '0.001'];
const TESTS = ['tag == "red"', "tag != 'red'", 'flag', '!flag', 'v > w', 'v <= 3', 'v == 1.5'];

/** Texts of the grammar of docs/domain.md 7.5 over the properties that random events have. */
export const anyExpression: fc.Arbitrary<string> = fc.letrec<{
  number: string;
  truth: string;
}>((tie) => ({
  number: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...LEAVES),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*', '/', '%'), tie('number'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('number'), fc.constantFrom('+', '-', '*'), tie('number'))
      .map((parts) => parts.join('')),
    tie('number').map((operand) => `-(${operand})`),
    fc
      .tuple(fc.constantFrom('min', 'max'), tie('number'), tie('number'))
      .map(([name, left, right]) => `${name}(${left}, ${right})`),
    fc
      .tuple(fc.constantFrom('abs', 'ceil', 'floor', 'round'), tie('number'))
      .map(([name, operand]) => `${name}(${operand})`),
    fc
      .tuple(tie('truth'), tie('number'), tie('number'))
      .map(([truth, left, right]) => `(${truth} ? ${left} : ${right})`),
  ),
  truth: fc.oneof(
    { maxDepth: 2, depthSize: 'small' },
    fc.constantFrom(...TESTS),
    fc
      .tuple(tie('truth'), fc.constantFrom('&&', '||'), tie('truth'))
      .map(([left, operator, right]) => `(${left} ${operator} ${right})`),
    fc
      .tuple(tie('number'), fc.constantFrom('<', '<=', '>', '>=', '==', '!='), tie('number'))
      .map(([left, operator, right]) => `${left} ${operator} ${right}`),
  ),
})).number;
