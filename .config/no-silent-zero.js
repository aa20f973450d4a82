/**
 * A look-up that finds nothing must fail where money and usage are computed: with a default it
 * becomes an amount of 0, a usage of 0, or a line that vanishes (docs/internals/style.md 5). What
 * must be there is read with `mustGet`, `assertPresent` or `zip` (runtime/failure.ts). Where
 * absence does mean zero or none, a comment directly above says why: `// Absent means zero:
 * <reason>`.
 */
const REASON = /^\s*Absent means [a-z ]+: \S/;
const SHARED_EMPTY_VALUES = new Set(['ZERO', 'EMPTY_CELL']);
const NUMBER_MAKERS = new Set(['Decimal', 'decimalOf', 'BigInt']);
/** Functions that return an empty value, whatever they are called with. */
const EMPTY_VALUE_MAKERS = new Set(['zeroMoney']);

/** Whether a literal is 0, 0n or an empty text, or -1, the index of nothing. */
function isEmptyLiteral(node) {
  if (node.type === 'TemplateLiteral') {
    return node.expressions.length === 0 && node.quasis[0].value.raw === '';
  }
  if (node.type === 'UnaryExpression') return node.operator === '-' && node.argument.value === 1;
  return node.type === 'Literal' && [0, '', '0'].includes(node.bigint ?? node.value);
}

/** Whether an expression is an empty value, in any spelling. */
function isEmpty(node) {
  switch (node.type) {
    case 'Identifier':
      return SHARED_EMPTY_VALUES.has(node.name);
    case 'ArrayExpression':
      return node.elements.length === 0;
    case 'NewExpression':
    case 'CallExpression':
      if (EMPTY_VALUE_MAKERS.has(node.callee.name)) return true;
      return NUMBER_MAKERS.has(node.callee.name) && node.arguments.every(isEmptyLiteral);
    default:
      return isEmptyLiteral(node);
  }
}

const meta = {
  type: 'problem',
  schema: [],
  messages: {
    empty:
      'Absence becomes an empty value here. Read what must be there with mustGet, assertPresent ' +
      'or zip; or say above the line why nothing is meant: "// Absent means zero: <reason>".',
    needless: 'Nothing below this comment gives an empty value to what is absent: remove it.',
  },
};

function create(context) {
  const comments = context.sourceCode.getAllComments();
  const atLine = new Map(comments.map((comment) => [comment.loc.end.line, comment]));
  const used = new Set();
  const isExplained = (line) => {
    const comment = atLine.get(line - 1);
    if (comment === undefined) return false;
    if (!REASON.test(comment.value)) return isExplained(comment.loc.start.line);
    used.add(comment);
    return true;
  };
  const check = (node) => {
    const isWrong = isEmpty(node.right) && !isExplained(node.loc.start.line);
    if (isWrong && !isExplained(node.right.loc.start.line)) {
      context.report({ node, messageId: 'empty' });
    }
  };
  return {
    'LogicalExpression[operator=/^(\\?\\?|\\|\\|)$/]': check,
    'AssignmentExpression[operator=/^(\\?\\?|\\|\\|)=$/]': check,
    // const [amount = ZERO] = amounts
    'ArrayPattern > AssignmentPattern': check,
    'Program:exit': () => {
      for (const comment of comments) {
        const isNeedless = REASON.test(comment.value) && !used.has(comment);
        if (isNeedless) context.report({ loc: comment.loc, messageId: 'needless' });
      }
    },
  };
}

export const noSilentZero = { meta, create };
