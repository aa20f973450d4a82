/**
 * A refusal that nobody looks at lets a unit go on, and commit, as if nothing had been refused
 * (docs/style.md 5). So a call that may answer one is no statement of its own: its value is
 * returned, or asked with `isRefusal`. The compiler reports a value that is stored and never read.
 */
const NAME = 'Refusal';

const meta = {
  type: 'problem',
  schema: [],
  messages: {
    dropped:
      'This call may answer a Refusal, which is lost here. Return it, or ask the value with isRefusal.',
  },
};

/** The call of a statement, without what only waits for it or hides it. */
function calledBy(node) {
  const { type, argument } = node;
  const isWrapper =
    type === 'AwaitExpression' || (type === 'UnaryExpression' && node.operator === 'void');
  return isWrapper ? calledBy(argument) : node;
}

/** The parts of a type; of a promise those of its value. */
function partsOf(checker, type) {
  const value = checker.getAwaitedType(type) ?? type;
  return value.isUnion() ? value.types : [value];
}

function create(context) {
  const services = context.sourceCode.parserServices;
  const checker = services.program.getTypeChecker();
  const mayRefuse = (node) =>
    partsOf(checker, services.getTypeAtLocation(node)).some(
      (part) => part.getSymbol()?.getName() === NAME,
    );
  return {
    ExpressionStatement: ({ expression }) => {
      const node = calledBy(expression);
      if (node.type === 'CallExpression' && mayRefuse(node)) {
        context.report({ node, messageId: 'dropped' });
      }
    },
  };
}

export const noDroppedRefusal = { meta, create };
