import { ValidationService, type FieldErrors, type TsoaRoute } from '@tsoa/runtime';
import { nearestName } from './nearest-name.js';
import {
  CURRENCY_FORM,
  DATE_TIME_FORM,
  enumerationForm,
  FLAG_FORM,
  formOfType,
  integerForm,
  numberForm,
  textProblem,
  type NumberLimits,
  type TextLimits,
} from './wanted-form.js';

export type Settings = ConstructorParameters<typeof ValidationService>[1];
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

function isEmpty(problems: FieldErrors): boolean {
  return Object.keys(problems).length === 0;
}

/** What tsoa says of a value below a name of the caller's choice, whatever is wrong with it. */
const NO_MODEL = /^No matching model found/;
/** Texts with a form that tsoa does not know, by their type (`contract/wire-types.ts`). */
const FORM_OF_TYPE: Readonly<Record<string, string>> = {
  Currency: CURRENCY_FORM,
  DateTime: DATE_TIME_FORM,
};

/** The members that an object of a request must have, as far as it must have any. */
function exampleOf(properties: Readonly<Record<string, TsoaRoute.PropertySchema>> = {}): string {
  const needed = Object.keys(properties).filter((name) => properties[name]?.required === true);
  return needed.length === 0 ? '' : ` with ${needed.join(', ')}`;
}

/** Says which known member an unknown one was meant to be, where one is near. */
function nameMeant(
  { name, fieldErrors, value, parent = '' }: Parameters<ValidationService['validateModel']>[0],
  known: readonly string[],
): void {
  for (const unknown of Object.keys(value as object)) {
    const problem = fieldErrors[`${parent}${name}.${unknown}`];
    if (problem?.message.includes('is an excess property') !== true) continue;
    const meant = nearestName(unknown, known);
    if (meant !== null) problem.message += `; did you mean ${meant}?`;
  }
}

/**
 * Validates where tsoa is too lenient, names its own internals, or loses the place within the body.
 * The signatures are tsoa's.
 */
/* eslint-disable max-params */
export class StrictValidationService extends ValidationService {
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
    fieldErrors[parent + name] = { message: `must be ${enumerationForm(members ?? [])}`, value };
    return undefined;
  }

  override validateInt(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    validators?: NumberLimits,
    parent = '',
  ): number | undefined {
    const problems: FieldErrors = {};
    const integer = super.validateInt(name, value, problems, isBodyParam, validators, parent);
    if (!isEmpty(problems)) {
      fieldErrors[parent + name] = { message: `must be ${integerForm(validators)}`, value };
    }
    return integer;
  }

  override validateFloat(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    validators?: NumberLimits,
    parent = '',
  ): number | undefined {
    const problems: FieldErrors = {};
    const number = super.validateFloat(name, value, problems, isBodyParam, validators, parent);
    if (!isEmpty(problems)) {
      fieldErrors[parent + name] = { message: `must be ${numberForm(validators)}`, value };
    }
    return number;
  }

  override validateString(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    validators?: TextLimits,
    parent = '',
  ): string | undefined {
    const problems: FieldErrors = {};
    const text = super.validateString(name, value, problems, validators, parent);
    if (!isEmpty(problems)) {
      fieldErrors[parent + name] = { message: textProblem(value, validators), value };
    }
    return text;
  }

  override validateBool(
    name: string,
    value: unknown,
    fieldErrors: FieldErrors,
    isBodyParam: boolean,
    validators?: Parameters<ValidationService['validateBool']>[4],
    parent = '',
  ): boolean | undefined {
    const problems: FieldErrors = {};
    const flag = super.validateBool(name, value, problems, isBodyParam, validators, parent);
    if (!isEmpty(problems)) fieldErrors[parent + name] = { message: `must be ${FLAG_FORM}`, value };
    return flag;
  }

  /**
   * Names what is missing in our words. A request without a body is one with an empty body, so that
   * an operation whose members are all optional needs none.
   */
  override ValidateParam(
    property: TsoaRoute.PropertySchema,
    given: unknown,
    name = '',
    fieldErrors: FieldErrors = {},
    isBodyParam = false,
    parent = '',
  ): unknown {
    const value = isBodyParam && parent === '' && given === undefined ? {} : given;
    const found: unknown = super.ValidateParam(
      property,
      value,
      name,
      fieldErrors,
      isBodyParam,
      parent,
    );
    const path = parent + name;
    if (fieldErrors[path] !== undefined) {
      const message = this.#missingOr(property, name, value);
      if (message !== null) fieldErrors[path] = { message, value };
    }
    return found;
  }

  /**
   * Unknown members of a query are ignored, those of a body are not (docs/http.md 1.1). Where names
   * are the caller's choice, tsoa forgets what is wrong with a value.
   */
  override validateModel(input: Parameters<ValidationService['validateModel']>[0]): unknown {
    const { isBodyParam, modelDefinition, value } = input;
    if (modelDefinition.dataType !== 'refObject') return super.validateModel(input);
    if (isBodyParam) {
      const { value: given } = input;
      if (typeof given !== 'object' || given === null || Array.isArray(given)) {
        const message = `must be an object${exampleOf(modelDefinition.properties)}`;
        input.fieldErrors[`${input.parent ?? ''}${input.name}`] = { message, value: given };
        return undefined;
      }
      const found: unknown = super.validateModel(input);
      this.#nameValues(input, modelDefinition.additionalProperties);
      nameMeant(input, Object.keys(modelDefinition.properties ?? {}));
      return found;
    }
    const known = Object.entries(value as object).filter(([name]) =>
      Object.hasOwn(modelDefinition.properties ?? {}, name),
    );
    return super.validateModel({ ...input, value: Object.fromEntries(known) });
  }

  override validateNestedObjectLiteral(
    ...parameters: Parameters<ValidationService['validateNestedObjectLiteral']>
  ): unknown {
    const [name, value, fieldErrors, , nested, , parent] = parameters;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
      return super.validateNestedObjectLiteral(...parameters);
    }
    fieldErrors[`${parent ?? ''}${name}`] = {
      message: `must be an object${exampleOf(nested)}`,
      value,
    };
    return undefined;
  }

  /** Says what is wrong with values below names of the caller's choice. */
  #nameValues(
    input: Parameters<ValidationService['validateModel']>[0],
    schema: TsoaRoute.PropertySchema | boolean | undefined,
  ): void {
    if (typeof schema !== 'object' || typeof input.value !== 'object') return;
    const { fieldErrors, isBodyParam, parent = '' } = input;
    const owner = `${parent}${input.name}.`;
    for (const [name, value] of Object.entries(input.value ?? {}) as [string, unknown][]) {
      const path = `${owner}${name}`;
      if (!NO_MODEL.test(fieldErrors[path]?.message ?? '')) continue;
      const problems: FieldErrors = {};
      this.ValidateParam(schema, value, name, problems, isBodyParam, owner);
      const problem = problems[path];
      // What is wrong further inside has been told already.
      if (problem === undefined) delete fieldErrors[path];
      else fieldErrors[path] = problem;
    }
  }

  /**
   * A union that lists all its values is an enumeration, so the message can list them too. Of a
   * list or null, tsoa ignores how long the list may be; of an object or null, what is wrong in it.
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
    const choice = this.#choiceAmong(property, value);
    if (choice !== undefined) {
      const validators = { ...property.validators, ...choice.validators };
      const limited = { ...choice, validators };
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
    if (!isEmpty(problems)) {
      const message = `must be ${this.#formOf(property)}`;
      fieldErrors[parent + name] = { message, value };
    }
    return found;
  }

  /** What tsoa says in other words of a value; null where its words will do. */
  #missingOr(property: TsoaRoute.PropertySchema, name: string, value: unknown): string | null {
    const form = FORM_OF_TYPE[property.ref ?? ''];
    if (value !== undefined) return form === undefined ? null : `must be ${form}`;
    return `must be given: send ${name.endsWith('_id') ? 'an id' : this.#formOf(property)}`;
  }

  /** What a value of this schema is, in words: `a text or null`. */
  #formOf(schema: TsoaRoute.PropertySchema): string {
    const members = this.#membersOf(schema);
    if (members !== null) return enumerationForm(members);
    const form = FORM_OF_TYPE[schema.ref ?? ''];
    if (form !== undefined) return form;
    if (schema.dataType === 'union') {
      const { validators } = schema;
      const forms = (schema.subSchemas ?? []).map((each) =>
        this.#formOf({ ...each, validators: { ...validators, ...each.validators } }),
      );
      return [...new Set(forms)].join(' or ');
    }
    const model = this.#modelOf(schema);
    if (model?.dataType === 'refAlias') {
      const { type } = model;
      return this.#formOf({ ...type, validators: { ...type.validators, ...schema.validators } });
    }
    if (model?.dataType === 'refObject') return `an object${exampleOf(model.properties)}`;
    return formOfType(schema);
  }

  /** The only choice of a union that is a list, or an object, as the value is. */
  #choiceAmong(
    { subSchemas = [] }: TsoaRoute.PropertySchema,
    value: unknown,
  ): TsoaRoute.PropertySchema | undefined {
    if (typeof value !== 'object' || value === null) return undefined;
    const kind = Array.isArray(value) ? 'array' : 'refObject';
    const choices = subSchemas.filter((schema) => this.#kindOf(schema) === kind);
    return choices.length === 1 ? choices[0] : undefined;
  }

  #modelOf({ ref }: TsoaRoute.PropertySchema): TsoaRoute.ModelSchema | undefined {
    return ref === undefined ? undefined : this.#schemas[ref];
  }

  #kindOf(schema: TsoaRoute.PropertySchema): string | undefined {
    const model = this.#modelOf(schema);
    if (model === undefined) return schema.dataType;
    return model.dataType === 'refAlias' ? this.#kindOf(model.type) : model.dataType;
  }

  /** All values of an enumeration, however it is put together; null for any other schema. */
  #membersOf(schema: TsoaRoute.PropertySchema): (string | number | boolean | null)[] | null {
    if (schema.enums !== undefined) return schema.enums;
    if (schema.subSchemas !== undefined && schema.dataType === 'union') {
      const lists = schema.subSchemas.map((each) => this.#membersOf(each));
      return lists.includes(null) ? null : lists.flatMap((list) => list ?? []);
    }
    const model = this.#modelOf(schema);
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
