import { z } from 'zod';

/**
 * An object whose keys belong to callers, such as metadata. z.record loses the key `__proto__`,
 * which is a key like any other here: the object is checked and stays as it was parsed.
 */
export function textKeyed<Value extends z.ZodTypeAny>(
  value: Value,
): z.ZodType<Record<string, z.output<Value>>> {
  return z.custom<Record<string, z.output<Value>>>(
    (input) =>
      typeof input === 'object' &&
      input !== null &&
      !Array.isArray(input) &&
      Object.values(input).every((member) => value.safeParse(member).success),
    { message: 'is no object with such values' },
  );
}
