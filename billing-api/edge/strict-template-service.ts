import {
  ExpressTemplateService,
  ValidationService,
  type FieldErrors,
  type TsoaRoute,
} from '@tsoa/runtime';

type Settings = ConstructorParameters<typeof ValidationService>[1];
type ArrayLimits = {
  readonly minItems?: { readonly value: number };
  readonly maxItems?: { readonly value: number };
};

function lengthProblem(length: number, limits: ArrayLimits | undefined): string | null {
  const least = limits?.minItems?.value ?? 0;
  const most = limits?.maxItems?.value ?? Infinity;
  if (length < least) return `must have at least ${least} elements`;
  return length > most ? `must have at most ${most} elements` : null;
}

type IntegerLimits = {
  readonly minimum?: { readonly value: number };
  readonly maximum?: { readonly value: number };
};

function integerProblem(limits: IntegerLimits | undefined): string {
  const least = limits?.minimum?.value;
  const most = limits?.maximum?.value;
  if (least === undefined && most === undefined) return 'must be an integer';
  if (most === undefined) return `must be an integer of at least ${least}`;
  if (least === undefined) return `must be an integer of at most ${most}`;
  return `must be an integer from ${least} to ${most}`;
}

const LIST_LENGTH = /must have at (?:least|most) \d+ elements/;

/**
 * Validates where tsoa is too lenient, names its own internals, or loses the place within the body.
 * The signatures are tsoa's.
 */
/* eslint-disable max-params */
class StrictValidationService extends ValidationService {
  readonly #schemas: TsoaRoute.Models;

  constructor(schemas: TsoaRoute.Models, settings: Settings) {
    super(schemas, settings);
    this.#schemas = schemas;
  }

  /** tsoa compares texts: a list of one text would pass as that text. */
  override validateEnum(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    members?: (string | number | boolean | null)[],
    parent = '',
  ): unknown {
    if (members?.some((member) => member === value) === true) return value;
    const known = (members ?? []).join(', ');
    fieldErrors[parent + name] = { message: `must be one of ${known}`, value };
    return undefined;
  }

  override validateInt(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    validators?: IntegerLimits,
    parent = '',
  ): number | undefined {
    const problems: FieldErrors = {};
    const integer = super.validateInt(name, value, problems, isBodyParam, validators, parent);
    for (const path of Object.keys(problems)) {
      fieldErrors[path] = { message: integerProblem(validators), value };
    }
    return integer;
  }

  /**
   * Unknown members of a query are ignored, those of a body are not (docs/http.md 1.1). Where names
   * are the caller's choice, tsoa forgets what is wrong with a value.
   */
  override validateModel(input: Parameters<ValidationService['validateModel']>[0]): unknown {
    const { isBodyParam, modelDefinition, value } = input;
    if (modelDefinition.dataType !== 'refObject') return super.validateModel(input);
    if (isBodyParam) {
      const found: unknown = super.validateModel(input);
      this.#nameListLengths(input, modelDefinition.additionalProperties);
      return found;
    }
    const known = Object.entries(value as object).filter(([name]) =>
      Object.hasOwn(modelDefinition.properties ?? {}, name),
    );
    return super.validateModel({ ...input, value: Object.fromEntries(known) });
  }

  /** Names the limits of lists below names of the caller's choice. */
  #nameListLengths(
    input: Parameters<ValidationService['validateModel']>[0],
    schema: TsoaRoute.PropertySchema | boolean | undefined,
  ): void {
    if (typeof schema !== 'object' || typeof input.value !== 'object') return;
    const { fieldErrors, isBodyParam, parent = '' } = input;
    const owner = `${parent}${input.name}.`;
    for (const [name, value] of Object.entries(input.value ?? {}) as [string, unknown][]) {
      const problems: FieldErrors = {};
      if (!Array.isArray(value) || fieldErrors[`${owner}${name}`] === undefined) continue;
      this.ValidateParam(schema, value, name, problems, isBodyParam, owner);
      const problem = problems[`${owner}${name}`];
      if (problem !== undefined && LIST_LENGTH.test(problem.message)) {
        fieldErrors[`${owner}${name}`] = problem;
      }
    }
  }

  /**
   * A union that lists all its values is an enumeration, so the message can list them too. Of a
   * list or null, tsoa ignores how long the list may be.
   */
  override validateUnion(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    property: TsoaRoute.PropertySchema,
    parent = '',
  ): unknown {
    const members = this.#membersOf(property);
    if (members !== null) return this.validateEnum(name, value, fieldErrors, members, parent);
    const list = Array.isArray(value) ? this.#listAmong(property) : undefined;
    if (list !== undefined) {
      const validators = { ...property.validators, ...list.validators };
      const limited = { ...list, validators };
      return this.ValidateParam(limited, value, name, fieldErrors, isBodyParam, parent);
    }
    const problems: FieldErrors = {};
    const found: unknown = super.validateUnion(
      name,
      value,
      problems,
      isBodyParam,
      property,
      parent,
    );
    if (Object.keys(problems).length > 0) {
      fieldErrors[parent + name] = { message: 'has a value of the wrong type', value };
    }
    return found;
  }

  /** The choice of a union that is a list. */
  #listAmong({ subSchemas = [] }: TsoaRoute.PropertySchema): TsoaRoute.PropertySchema | undefined {
    return subSchemas.find((schema) => {
      const model = schema.ref === undefined ? undefined : this.#schemas[schema.ref];
      const target = model?.dataType === 'refAlias' ? model.type : schema;
      return target.dataType === 'array';
    });
  }

  /** All values of an enumeration, however it is put together; null for any other schema. */
  #membersOf(schema: TsoaRoute.PropertySchema): (string | number | boolean | null)[] | null {
    if (schema.enums !== undefined) return schema.enums;
    if (schema.subSchemas !== undefined && schema.dataType === 'union') {
      const lists = schema.subSchemas.map((each) => this.#membersOf(each));
      return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
    }
    const model = schema.ref === undefined ? undefined : this.#schemas[schema.ref];
    if (model?.dataType === 'refEnum') return model.enums;
    return model?.dataType === 'refAlias' ? this.#membersOf(model.type) : null;
  }

  /**
   * tsoa leaves the path of the list out of an element's name, and checks every element of a list
   * that is too long. In a query, a name that is given once is a list of one.
   */
  override validateArray(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    schema?: TsoaRoute.PropertySchema,
    validators?: ArrayLimits,
    parent = '',
  ): unknown[] | undefined {
    const path = `${parent}${name}`;
    const given: unknown = isBodyParam || typeof value !== 'string' ? value : [value];
    const isList = Array.isArray(given) && schema !== undefined;
    const problem = isList ? lengthProblem(given.length, validators) : 'must be a list';
    if (problem !== null) fieldErrors[path] = { message: problem, value };
    if (!isList || problem !== null) return undefined;
    return given.map((element, index) =>
      this.ValidateParam(schema, element, `$${index}`, fieldErrors, isBodyParam, `${path}.`),
    );
  }
}
/* eslint-enable max-params */

/** What the generated routes validate with. */
export class StrictTemplateService extends ExpressTemplateService {
  constructor(models: TsoaRoute.Models, settings: Settings) {
    super(models, settings);
    this.validationService = new StrictValidationService(models, settings);
  }
}
