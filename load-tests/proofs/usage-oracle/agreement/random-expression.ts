import fc from 'fast-check';

const LEAVES = ['v', 'w', 'properties["v"]', "properties['w x']", '0', '1', '2.5', '1e3', '0.001'];
const TESTS = ['tag == "red"', "tag != 'red'", 'flag', '!flag', 'v > w', 'v <= 3', 'v == 1.5'];

/** Divisors that leave digits without end, and two that may or may not. */
const DIVISORS = ['3', '7', '0.3', '1.1', 'w', 'ceil(2.5)'];

/** Quotients that come out even again, where a number of so many digits would be a little off. */
const evenAgain: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom(...LEAVES), fc.constantFrom(...DIVISORS), fc.nat({ max: 8 }))
  .map(([number, divisor, form]) => {
    const back = `(${number} / ${divisor} * ${divisor})`;
    const forms = [
      back,
      `floor(${back})`,
      `ceil(${back})`,
      `round(${back} / 2)`,
      `(${back} % 1)`,
      `(${back} == ${number} ? 1 : 2)`,
      `(${back} < ${number} ? 1 : 2)`,
      `(${number} / ${divisor} % (1 / ${divisor}))`,
      `(${number} / ${divisor})`,
    ];
    return forms[form] ?? back;
  });

/** Texts of the grammar of docs/domain.md 7.5 over the properties that random events have. */
export const anyExpression: fc.Arbitrary<string> = fc.letrec<{
  number: string;
  truth: string;
}>((tie) => ({
  number: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(...LEAVES),
    evenAgain,
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
