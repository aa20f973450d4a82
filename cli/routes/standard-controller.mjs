/** The controller that follows from a declaration of standard routes, in the form that tsoa reads. */
import {
  comment,
  headerOf,
  importsOf,
  kebab,
  namesOf,
  pascal,
  withArticle,
} from './generated-text.mjs';
import { hasOwnDto, interfaceNames } from './standard-types.mjs';

function routeOf(declared, kind) {
  const { routes, constant, resource } = declared;
  const { name, plural, Type, Types, one, list } = namesOf(declared);
  const isVersioned = Object.values(resource.columns).some(
    (column) => 'isRaisedByChange' in column,
  );
  const withId = '@Path() id: string';
  const call = (operation, last) => `await this.run(${constant}.${operation}, ${last})`;
  const { readBy, remove } = routes;
  const parameter = readBy?.path.replace(/^.*\{(\w+)\}$/, '$1');
  const verb = resource.removal === 'archived' ? 'archive' : 'delete';
  const hasMessage = remove?.answers === 'message';
  const removal = call('remove', 'id');
  return {
    create: {
      http: 'Post()',
      access: 'write',
      versioned: isVersioned,
      id: `create${Type}`,
      summary: `Create ${withArticle(name)}`,
      status: [201, 'Created'],
      given: `@Body() body: Create${Type}Body`,
      answer: one.name,
      run: `return this.tagged(${call('create', 'body')}).dto;`,
    },
    search: {
      http: "Post('search')",
      access: 'read',
      id: `search${Types}`,
      summary: `Search ${plural}`,
      given: `@Body() body: Search${Types}Body`,
      answer: list.name,
      run: `return pageToDto(${call('search', 'body')}, (dto) => dto);`,
    },
    list: {
      http: 'Get()',
      access: 'read',
      description: 'Newest first unless sorted otherwise.',
      id: `list${Types}`,
      summary: `List ${plural}`,
      given: '@Queries() query: ListQuery',
      answer: list.name,
      run: `return pageToDto(${call('search', 'listRequestFrom(query)')}, (dto) => dto);`,
    },
    readBy: readBy && {
      http: `Get('${readBy.path}')`,
      access: 'read',
      versioned: isVersioned,
      id: `read${Type}By${pascal(parameter)}`,
      summary: `Read ${withArticle(name)} by its ${parameter.replaceAll('_', ' ')}`,
      given: `@Path() ${parameter}: string`,
      answer: one.name,
      run: `return this.matched(${call('readBy', parameter)}).dto;`,
    },
    read: {
      http: "Get('{id}')",
      access: 'read',
      versioned: isVersioned,
      id: `read${Type}`,
      summary: `Read ${withArticle(name)}`,
      given: withId,
      answer: one.name,
      run: `return this.matched(${call('read', 'id')}).dto;`,
    },
    change: {
      http: "Put('{id}')",
      access: 'write',
      versioned: isVersioned,
      id: `change${Type}`,
      summary: `Change ${withArticle(name)}`,
      given: `${withId}, @Body() body: Change${Type}Body`,
      answer: one.name,
      run: `return this.tagged(${call('change', 'this.changeOf(id, body)')}).dto;`,
    },
    remove: {
      http: "Delete('{id}')",
      access: 'write',
      id: `${verb}${Type}`,
      given: withId,
      summary: `${pascal(verb)} ${withArticle(name)}`,
      status: hasMessage ? undefined : [204, pascal(resource.removal)],
      answer: hasMessage ? 'MessageDto' : 'void',
      run: hasMessage
        ? `${removal};\n    return { message: \`${name} \${id} is ${resource.removal}\` };`
        : `${removal};`,
    },
  }[kind];
}

/** One method of a controller, with what its declaration says otherwise. */
function methodOf(declared, kind) {
  const own = declared.routes[kind];
  const route = { ...routeOf(declared, kind) };
  const { operationId: id = route.id, summary = route.summary } = own;
  const text = own.description ?? route.description;
  const versioned = route.versioned ? ', versioned: true' : '';
  const { entity } = declared.routes;
  return [
    ...comment({ text, tags: [`@summary ${summary}`] }, '  '),
    `  @${route.http}`,
    `  @Extension('x-operation', { entity: '${entity}', access: '${route.access}'${versioned} })`,
    ...(route.status ? [`  @SuccessResponse(${route.status[0]}, '${route.status[1]}')`] : []),
    `  public async ${id}(${route.given}): Promise<${route.answer}> {`,
    `    ${route.run}`,
    '  }',
    '',
  ];
}

const KINDS = ['create', 'search', 'list', 'readBy', 'read', 'change', 'remove'];

/** Comparisons, for the compiler, of the generated types with those that follow from the columns. */
function checksOf(declared) {
  const { routes, constant } = declared;
  const { Type, Types } = namesOf(declared);
  const columns = `(typeof ${constant})['resource']['columns']`;
  return [
    '/** The types that tsoa reads are those of the columns, or this does not compile. */',
    'export type Checked = AllTrue<[',
    ...(hasOwnDto(declared) ? [`  Same<${Type}Dto, AnswerOf<${columns}>>,`] : []),
    ...(routes.create ? [`  Same<Create${Type}Body, CreateBodyOf<${columns}>>,`] : []),
    ...(routes.change ? [`  Same<Change${Type}Body, ChangeBodyOf<${columns}>>,`] : []),
    ...(routes.search
      ? [
          `  Same<Search${Types}Body, SearchBody & SearchBodyOf<NonNullable<(typeof ${constant})['routes']['search']>['by']>>,`,
        ]
      : []),
    ']>;',
    '',
  ];
}

/** The file of the controller: its name and its text. */
export function controllerModule(declared) {
  const { routes, constant, file, resource } = declared;
  const { plural, Types, one, list } = namesOf(declared);
  const body = [
    ...checksOf(declared),
    `@Route('v1/${routes.path}')`,
    `@Tags('${routes.tag}')`,
    `export class ${Types}Controller extends ApiController<WriteDependencies> {`,
    ...KINDS.filter((kind) => routes[kind] !== undefined).flatMap((kind) =>
      methodOf(declared, kind),
    ),
    '}',
    '',
  ].join('\n');
  const decorators = 'Body Delete Extension Get Path Post Put Queries Route SuccessResponse Tags';
  const used = decorators.split(' ').filter((name) => body.includes(`@${name}(`));
  const values = {
    'edge/api-controller.js': ['ApiController'],
    'records/list-request.js': ['listRequestFrom'],
    'records/search-records.js': ['pageToDto'],
  };
  const types = {
    'records/list-request.js': ['ListQuery'],
    'records/record-dto.js': ['MessageDto', 'SearchBody'],
    'records/resource.js': ['AnswerOf'],
    'records/unit.js': ['WriteDependencies'],
    'records/standard/compare-types.js': ['AllTrue', 'Same'],
    'records/standard/members.js': ['ChangeBodyOf', 'CreateBodyOf'],
    'records/standard/search-members.js': ['SearchBodyOf'],
    [`generated/standard/${kebab(resource.name)}-types.js`]: interfaceNames(declared),
  };
  for (const { name, from } of [one, list]) {
    if (from !== undefined) types[from] = [...(types[from] ?? []), name];
  }
  const lines = [
    headerOf(file),
    `import { ${used.join(', ')} } from '@tsoa/runtime';`,
    `import { ${constant} } from '../../${file}';`,
    ...importsOf(body, values, 'import'),
    ...importsOf(body, types),
    '',
    body,
  ];
  return { name: `${kebab(plural)}-controller.ts`, text: lines.join('\n') };
}
