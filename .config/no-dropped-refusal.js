/** Two rules about refusals (docs/internals/style.md 5). */
const NAME = 'Refusal';
const UNITS = ['StatementUnit', 'ReadUnit', 'Unit'];

/**
 * A refusal that nobody looks at lets the work go on, as if nothing had been refused. So a call
 * that may answer one is no statement of its own: its value is returned, asked with `isRefusal`, or
 * thrown by `accept`. The compiler reports a value that is stored and never read.
 */
const meta = {
  type: 'problem',
  schema: [],
  messages: {
    dropped:
      'This call may answer a Refusal, which is lost here. Throw it with accept, return it, or ask the value with isRefusal.',
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

function includesRefusal(checker, type) {
  return partsOf(checker, type).some((part) => part.getSymbol()?.getName() === NAME);
}

function create(context) {
  const services = context.sourceCode.parserServices;
  const checker = services.program.getTypeChecker();
  const mayRefuse = (node) => includesRefusal(checker, services.getTypeAtLocation(node));
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

/**
 * Inside a unit a refusal is thrown: a function that takes a unit answers none, since its caller
 * could lose it. Nobody catches one there either: what was written before it would be kept.
 */
const metaInUnit = {
  type: 'problem',
  schema: [],
  messages: {
    answered:
      'This takes a unit and may answer a Refusal. Throw it: `throw new Refused(…)`, or `accept(…)` what judges.',
    caught:
      'A refusal that is caught in a unit leaves half of it written. Ask before anything is written, or throw again.',
  },
};

/** Whether it throws by itself, and not only in a function that is made in it. */
function throwsIn(node) {
  if (node === null || typeof node !== 'object') return false;
  if (node.type === 'ThrowStatement') return true;
  if (node.params !== undefined) return false;
  return Object.entries(node).some(([key, value]) => {
    if (key === 'parent') return false;
    return Array.isArray(value) ? value.some(throwsIn) : throwsIn(value);
  });
}

function createInUnit(context) {
  const services = context.sourceCode.parserServices;
  const checker = services.program.getTypeChecker();
  const aliasOf = (node) => services.getTypeAtLocation(node).aliasSymbol?.getName();
  const takes = (units, { params = [] }) => params.some((param) => units.includes(aliasOf(param)));
  const answered = (node) => {
    if (!takes(UNITS, node)) return;
    const signature = checker.getSignatureFromDeclaration(services.esTreeNodeToTSNodeMap.get(node));
    if (includesRefusal(checker, checker.getReturnTypeOfSignature(signature))) {
      context.report({ node, messageId: 'answered' });
    }
  };
  const caught = (node) => {
    const around = context.sourceCode.getAncestors(node);
    if (around.some((one) => takes(['Unit'], one))) context.report({ node, messageId: 'caught' });
  };
  return {
    FunctionDeclaration: answered,
    FunctionExpression: answered,
    ArrowFunctionExpression: answered,
    TSFunctionType: answered,
    TSMethodSignature: answered,
    CatchClause: (node) => throwsIn(node.body) || caught(node),
    'CallExpression[callee.property.name="catch"]': caught,
    'CallExpression[callee.name="answerOf"]': caught,
  };
}

export const noRefusalInUnit = { meta: metaInUnit, create: createInUnit };
