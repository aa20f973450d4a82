/**
 * The types of bodies and answers that follow from a declaration of standard routes, in the form in
 * which tsoa reads them.
 */
import { comment, headerOf, importsOf, kebab, namesOf } from './generated-text.mjs';

function tagsOf(limits) {
  const { isInt, ...others } = limits;
  const tags = Object.entries(others).map(([name, value]) => `@${name} ${value}`);
  return isInt ? ['@isInt', ...tags] : tags;
}

function member({ name, isOptional, type, text, tags }) {
  const mark = isOptional ? '?' : '';
  return [...comment({ text, tags }, '  '), `  ${name}${mark}: ${type};`];
}

function interfaceOf({ name, parent, text, example, members }) {
  const tags = example === undefined ? [] : [`@example ${JSON.stringify(example)}`];
  const from = parent === undefined ? '' : ` extends ${parent}`;
  return [...comment({ text, tags }), `export interface ${name}${from} {`, ...members, '}', ''];
}

function ownColumns({ resource }) {
  return Object.entries(resource.columns).filter(([, column]) => !('isHidden' in column));
}

function answerMember([name, column]) {
  if (column.wire === undefined) throw new Error(`the column ${name} has no type on the wire`);
  const { wire, notes } = column;
  const { name: type } = wire.answerType ?? wire.type;
  const tags = wire.limits.isInt ? ['@isInt'] : [];
  const orNull = column.schema.isNullable() ? ' | null' : '';
  return member({ name, type: `${type}${orNull}`, text: notes.answer, tags });
}

function createMember([name, { wire, notes, atCreation }]) {
  return member({
    name,
    isOptional: atCreation === 'optional',
    type: wire.type.name,
    text: notes.create,
    tags: tagsOf(wire.limits),
  });
}

function changeMember([name, { wire, notes, isClearable }]) {
  const { default: _, ...limits } = wire.limits;
  const text = notes.change ?? (isClearable ? 'Null clears it.' : undefined);
  const type = `${wire.type.name}${isClearable ? ' | null' : ''}`;
  return member({ name, isOptional: true, type, text, tags: tagsOf(limits) });
}

function searchMember([name, { type, note, maxItems }]) {
  const tags = maxItems === undefined ? [] : [`@maxItems ${maxItems}`];
  return member({ name, isOptional: true, type: type.name, text: note, tags });
}

const METADATA = ['  metadata?: MetadataDto;'];
const CHANGED_METADATA = member({
  name: 'metadata',
  isOptional: true,
  type: 'MetadataDto | null',
  text: 'Replaced as a whole; null takes all away.',
});

/** Whether the type of a record with its columns is generated: it may be part of a hand-written one. */
export function hasOwnDto(declared) {
  const { Type, one } = namesOf(declared);
  return one.from === undefined || one.name !== `${Type}Dto`;
}

/** The interfaces of bodies and answers, each with what it follows from. */
function interfacesOf(declared) {
  const { routes, answers } = declared;
  const { Type, Types } = namesOf(declared);
  const columns = ownColumns(declared);
  const given = columns.filter(([, column]) => 'atCreation' in column);
  const changed = columns.filter(([, column]) => 'isChangeable' in column);
  return [
    hasOwnDto(declared) &&
      interfaceOf({
        name: `${Type}Dto`,
        parent: 'RecordDto',
        text: routes.record,
        members: columns.flatMap(answerMember),
      }),
    answers.types === undefined &&
      interfaceOf({
        name: `${Type}ListDto`,
        members: [`  items: ${Type}Dto[];`, '  pagination: PaginationDto;'],
      }),
    routes.create &&
      interfaceOf({
        name: `Create${Type}Body`,
        text: routes.create.body,
        example: routes.create.example,
        members: [...given.flatMap(createMember), ...METADATA],
      }),
    routes.change &&
      interfaceOf({
        name: `Change${Type}Body`,
        text: routes.change.body,
        example: routes.change.example,
        members: [...changed.flatMap(changeMember), ...CHANGED_METADATA],
      }),
    routes.search &&
      interfaceOf({
        name: `Search${Types}Body`,
        parent: 'SearchBody',
        members: Object.entries(routes.search.by).flatMap(searchMember),
      }),
  ].filter(Boolean);
}

export function interfaceNames(declared) {
  const text = interfacesOf(declared).flat().join('\n');
  return [...text.matchAll(/^export interface (\w+)/gm)].map(([, name]) => name);
}

/** The file of the types of bodies and answers: its name and its text. */
export function typesModule(declared) {
  const text = interfacesOf(declared).flat().join('\n');
  const named = {
    'records/record-dto.js': ['MetadataDto', 'PaginationDto', 'RecordDto', 'SearchBody'],
  };
  const columnTypes = ownColumns(declared).flatMap(([, { wire }]) => [wire.type, wire.answerType]);
  const searchTypes = Object.values(declared.routes.search?.by ?? {}).map(({ type }) => type);
  for (const { name, from } of [...columnTypes, ...searchTypes].filter(Boolean)) {
    if (from !== undefined) named[from] = [...new Set([...(named[from] ?? []), name])];
  }
  const lines = [headerOf(declared.file), ...importsOf(text, named), '', text];
  return { name: `${kebab(declared.resource.name)}-types.ts`, text: lines.join('\n') };
}
