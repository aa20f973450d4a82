/**
 * Who reads the state of an invoice or a credit note asks a group of its life cycle, by `isIn` or
 * `rowIsIn`, since a group does not compile until a new state has its place in it: a comparison with
 * a text goes on compiling, and overlooks the new state. Who makes a record or a move names states.
 */
const COLUMNS = new Set(['invoice_status', 'credit_note_status']);
const STATES = new Set(['DRAFT', 'FINALIZED', 'SKIPPED', 'VOIDED']);
const IN_SQL =
  /\b(?:invoice|credit_note)_status\W+(?:(?:NOT|IN|WHEN|ANY)\W+)*'(?:DRAFT|FINALIZED|SKIPPED|VOIDED)'/i;

const isState = (node) => node?.type === 'Literal' && STATES.has(node.value);

const meta = {
  type: 'problem',
  schema: [],
  messages: {
    literal:
      'This compares the state of an invoice or a credit note with a text, which overlooks a state ' +
      'that is added later. Ask a group of its life cycle: isIn, rowIsIn, or groups of INVOICE and ' +
      'CREDIT_NOTE (domain/lifecycle/invoice-lifecycle.ts).',
  },
};

function create(context) {
  /** Local names of the columns, as in `{ invoice_status: status }`. */
  const names = new Set();
  const isColumn = (node) => {
    if (node.type === 'ChainExpression') return isColumn(node.expression);
    if (node.type === 'MemberExpression') return COLUMNS.has(node.property.name);
    return node.type === 'Identifier' && (COLUMNS.has(node.name) || names.has(node.name));
  };
  const report = (node) => context.report({ node, messageId: 'literal' });
  return {
    'ObjectPattern > Property': ({ key, value }) => {
      if (COLUMNS.has(key.name) && value.type === 'Identifier') names.add(value.name);
    },
    BinaryExpression: (node) => {
      const { left, right } = node;
      if ((isState(left) && isColumn(right)) || (isState(right) && isColumn(left))) report(node);
    },
    SwitchStatement: ({ discriminant, cases }) => {
      if (isColumn(discriminant)) cases.filter(({ test }) => isState(test)).forEach(report);
    },
    ArrayExpression: (node) => {
      const isList = node.elements.length > 0 && node.elements.every(isState);
      const isOfPayments = node.elements.every((each) => each?.value === 'VOIDED');
      if (isList && !isOfPayments) report(node);
    },
    TemplateElement: (node) => {
      if (IN_SQL.test(node.value.raw)) report(node);
    },
  };
}

export const noLiteralState = { meta, create };
